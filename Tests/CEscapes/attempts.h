/// Attempts on the machine rather than on its files and processes. Each returns 0 if it succeeded, else an error number.
#ifndef ATTEMPTS_H
#define ATTEMPTS_H

/// Takes more memory, or more of the address space, than a worker may have.
int take_memory(void), take_addresses(void);

/// Takes memory of kinds that RLIMIT_DATA doesn't count.
int map_shared(void), map_growing(void), map_huge(void);

/// Starts a thousand threads.
int start_threads(void);

/// Does what needs capabilities: makes a namespace by a thread, and maps the page that null pointers point into.
int clone_namespace(void), map_null(void);

/// Is root.
int be_root(void);

/// Advises the system on memory other than as malloc does.
int advise(void);

/// Looks at the processor time and the processors of process 1, and at the machine's load.
int read_clock(void), sleep_by_clock(void), read_affinity(void), read_load(void);

#endif
