/// What a compromised decoder would try. Each attempt returns 0 if it succeeded, else an error number.
#ifndef CESCAPES_H
#define CESCAPES_H

/// Makes the attempt with a name, such as "open". Returns -1 if there is none.
int cescapes_try(const char *name);

/// The names of all attempts that return, in order; NULL after the last.
const char *cescapes_name(int index);

/// Writes to all memory above a new page, until the process dies: past every slab.
void cescapes_overwrite(void);

/// Writes far behind an allocation and frees it.
void cescapes_smash_heap(void);

/// Sends bytes on every descriptor that takes them.
void cescapes_send(const void *bytes, unsigned long count);

/// In a process that isn't confined yet: notes where it has memory, while it can still read that, and opens a socket
/// that attempts try to reach.
void cescapes_prepare(void);

/// Notes where this process has memory.
void cescapes_remember_memory(void);

/// Runs a program with an argument. Returns its exit status, or an error number.
int cescapes_run(const char *program, const char *argument);

/// How often a text stands in this process's memory. It is given backwards, since it would else find itself.
int cescapes_count(const char *reversed);

/// The random number that the kernel gives each started program, from which its stack canary is made.
unsigned long cescapes_random(void);

/// Computes on for ever, in a thread. Returns 0 or an error number.
int cescapes_compute(void);

/// Lets a system call fail in this process and its children, as on a kernel without it: "landlock", "seccomp", or
/// "namespaces" as in a container's profile. Returns 0 or an error number.
int cescapes_forbid(const char *call);

#endif
