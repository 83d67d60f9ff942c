/// Confinement of a process, and the fork server that makes confined processes. Linux on x86-64 and arm64.
#ifndef CSANDBOX_H
#define CSANDBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Whether this system has what the functions below need: Linux with glibc. Elsewhere than on Linux none of them does
/// anything; those that return an error number return ENOSYS.
bool csandbox_is_available(void);

/// Something that confines a process.
typedef enum {
    /// It can gain no privileges by running a program (PR_SET_NO_NEW_PRIVS).
    CSANDBOX_NO_NEW_PRIVILEGES = 1 << 0,
    /// Other processes of the same user can't read its memory, and it leaves no core file (PR_SET_DUMPABLE).
    CSANDBOX_NOT_DUMPABLE = 1 << 1,
    /// It is killed when the process that forked it ends (PR_SET_PDEATHSIG).
    CSANDBOX_DIES_WITH_PARENT = 1 << 2,
    /// It has no descriptor but its channel, and can get no other (RLIMIT_NOFILE).
    CSANDBOX_NO_DESCRIPTORS = 1 << 3,
    /// Its memory and processor time are limited (RLIMIT_DATA, RLIMIT_AS, RLIMIT_CPU), and its processes too where the
    /// filter isn't in force (RLIMIT_NPROC).
    CSANDBOX_LIMITS = 1 << 4,
    /// Landlock allows no file (Linux 5.13).
    CSANDBOX_NO_FILES = 1 << 5,
    /// Landlock allows no TCP (Linux 6.7). The filter of system calls forbids sockets too.
    CSANDBOX_NO_TCP = 1 << 6,
    /// Landlock allows no abstract socket and no signal outside the process (Linux 6.12). The filter forbids both too.
    CSANDBOX_SCOPED = 1 << 7,
    /// System calls that decoders don't need fail (seccomp). Threads are allowed, processes aren't.
    CSANDBOX_FILTERED_CALLS = 1 << 8,
    /// It has no capabilities (capset).
    CSANDBOX_NO_CAPABILITIES = 1 << 9,
    /// It isn't root's (setresuid).
    CSANDBOX_NOT_ROOT = 1 << 10,
    /// The fork server counts its threads, and refuses more than any library starts (seccomp's user notifications).
    CSANDBOX_COUNTED_THREADS = 1 << 11,
} csandbox_measure;

/// How to confine a process.
typedef struct {
    /// The measures to leave out, which only tests do.
    int32_t without;
    /// Bytes of memory that the process may allocate on top of what it has; 0 for no limit.
    uint64_t memory;
    /// Seconds of processor time; 0 for no limit.
    uint64_t seconds;
    /// Whether the process gives way to others, which the worker itself sees to.
    bool gives_way;
    /// What the server has to open before it forks the process, by bits that only its own code knows.
    uint64_t preparation;
} csandbox_plan;

/// Confines the calling process, which has one thread, for good. Closes all descriptors except `channel`.
/// Returns the measures in force.
int32_t csandbox_confine(csandbox_plan plan, int channel);

/// Overwrites what earlier calls left on the stack below this one.
void csandbox_clear_stack(void);

/// The number of system calls that the filter refused in this process, and the number of the last one.
uint64_t csandbox_refused_calls(int *last);

/// What a worker is forked with.
typedef struct {
    /// Its end of the socket pair, and the memory of files and of results.
    int channel, input, output;
    csandbox_plan plan;
} csandbox_worker;

/// Lets malloc shrink the heap of a thread. The first time, glibc opens /proc/sys/vm/overcommit_memory, which would count
/// as a refused call in a worker; it remembers what it has read. Later, malloc may have raised its threshold for it.
void csandbox_settle_malloc(void);

/// Opens what a worker needs, by a plan's bits.
typedef void (*csandbox_prepare)(uint64_t preparation, void *context);

/// Forks a worker for each request on the control socket. Returns true in each worker, and false in the server once the
/// other end of the socket is closed.
/// - Parameters:
///   - prepare: Opens what a worker needs, before it is forked, unless it is open.
///   - context: What it gets.
bool csandbox_serve(int control, csandbox_worker *worker, csandbox_prepare prepare, void *context);

/// Whether this process, which is to fork others, has one thread. Threads that are about to end are waited for.
bool csandbox_has_one_thread(void);

/// A worker as its program knows it.
typedef struct {
    int number;
    /// Its pidfd.
    int descriptor;
} csandbox_process;

/// Asks a fork server for a worker. Returns 0 and the worker, or an error number.
int csandbox_request_worker(int control, csandbox_worker worker, csandbox_process *process);

/// The processor time in nanoseconds that a process has used; 0 if there is none of this number.
int64_t csandbox_used_time(int process);

/// Starts a program as a fork server, whose control socket is its descriptor 3. It inherits no other descriptor but
/// standard error, and of the environment nothing but the folders of libraries. Memory that it frees is overwritten.
/// Returns 0 and its process and the other end of the socket, or an error number.
/// - Parameter path: The program; NULL for this one, which `csandbox_can_divert` has to allow.
int csandbox_spawn(const char *path, int *process, int *control);

/// Whether this program can be its own fork server: its first constructor, which this module has, is called before `main`.
/// It isn't where the module is in a shared library, or where the program has more rights than its user.
bool csandbox_can_divert(void);

/// What the program does as its own fork server. The module that uses this one defines it; it doesn't return.
void csandbox_main(void);

/// Makes a pair of connected sockets that keep messages apart. Returns 0 or an error number.
int csandbox_channel(int ends[2]);

/// Makes anonymous memory whose size is fixed by seals. Returns its descriptor, or a negative error number.
int csandbox_memory(const char *name, size_t count);

/// Forbids all later writable mappings of a memory. Returns 0 or an error number.
int csandbox_seal_writing(int memory);

/// Receives a message of `count` bytes. Returns 0; EAGAIN if none arrives within `milliseconds`; EPIPE if the other end is
/// closed; EBADMSG if the message has another size.
int csandbox_receive(int channel, void *message, size_t count, int milliseconds);

/// Does the same for a message that is expected soon: it first looks for it `attempts` times, each of which takes about a
/// microsecond. Going to sleep and being woken takes tens of them.
int csandbox_receive_soon(int channel, void *message, size_t count, int milliseconds, int attempts);

/// Sends a message without waiting. Returns 0; EAGAIN if the other side has stopped reading; another error number.
int csandbox_send(int channel, const void *message, size_t count);

/// Kills the process behind a pidfd. Returns 0 or an error number.
int csandbox_kill(int pidfd);

/// Waits up to `milliseconds` for the process behind a pidfd to end. Returns whether it has.
bool csandbox_has_ended(int pidfd, int milliseconds);

#endif
