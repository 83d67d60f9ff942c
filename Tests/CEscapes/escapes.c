#define _GNU_SOURCE
#include "CEscapes.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attempts.h"

extern char **environ;

static int outcome(long result) { return result >= 0 ? 0 : errno; }

static int open_file(void) { return outcome(open("/etc/passwd", O_RDONLY)); }
static int create_file(void) { return outcome(open("/tmp/escaped", O_CREAT | O_WRONLY, 0600)); }
static int list_folder(void) { return opendir("/") ? 0 : errno; }
static int read_link(void) {
    char target[64];
    return outcome(readlink("/proc/self/exe", target, sizeof target));
}
static int make_folder(void) {
    // Needs no descriptor. A folder that another process has made would exist before the system asks whether it may be.
    char path[64];
    snprintf(path, sizeof path, "/tmp/escaped-%ld", syscall(SYS_getpid));
    if (mkdir(path, 0700) != 0) return errno;
    rmdir(path);
    return 0;
}
static int delete_file(void) { return unlink("/tmp/escaped-not") == 0 || errno == ENOENT ? 0 : errno; }

static int connect_with(int domain, int type, const void *address, socklen_t size) {
    int descriptor = socket(domain, type, 0);
    if (descriptor < 0) return errno;
    // A refused connection was tried, so it counts as an escape.
    int result = connect(descriptor, address, size) == 0 || errno == ECONNREFUSED || errno == ENOENT ? 0 : errno;
    close(descriptor);
    return result;
}
static int connect_ip(int type) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(9), .sin_addr.s_addr = htonl(0x7f000001)};
    return connect_with(AF_INET, type, &address, sizeof address);
}
static int connect_tcp(void) { return connect_ip(SOCK_STREAM); }
static int connect_udp(void) { return connect_ip(SOCK_DGRAM); }
static int connect_unix(void) {
    struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "/run/escaped"};
    return connect_with(AF_UNIX, SOCK_STREAM, &address, sizeof address);
}

static struct sockaddr_un listener = {.sun_family = AF_UNIX};
static socklen_t listener_size;

/// Listens where a process outside of the confinement is to be reached: a socket without a file, named by the kernel.
static void listen_for_escapes(void) {
    int descriptor = socket(AF_UNIX, SOCK_STREAM, 0);
    socklen_t size = sizeof listener;
    if (bind(descriptor, (struct sockaddr *)&listener, sizeof listener.sun_family) == 0 && listen(descriptor, 1) == 0
        && getsockname(descriptor, (struct sockaddr *)&listener, &size) == 0)
        listener_size = size;
}
static int connect_abstract(void) {
    return listener_size ? connect_with(AF_UNIX, SOCK_STREAM, &listener, listener_size) : ENOENT;
}

/// Makes a process without the C library, whose functions do more than the one call.
static int clone_process(unsigned long flags) {
    long child = syscall(SYS_clone, flags | SIGCHLD, NULL, NULL, NULL, 0);
    if (child == 0) _exit(0);
    return outcome(child);
}
static int run_program(void) { return clone_process(CLONE_VFORK); }
static int replace_program(void) {
    char *arguments[] = {"/bin/true", NULL}, *environment[] = {NULL};
    execve(arguments[0], arguments, environment);
    return errno;
}
static int fork_process(void) { return clone_process(0); }

static int trace_parent(void) { return outcome(ptrace(PTRACE_ATTACH, getppid(), NULL, NULL)); }
// Asks whether it may. A signal that arrived would end the helper.
static int signal_parent(void) { return outcome(kill(getppid(), 0)); }
static int signal_all(void) { return outcome(kill(-1, 0)); }
static int read_parent(void) {
    char byte;
    struct iovec here = {&byte, 1}, there = {(void *)environ, 1};
    return outcome(process_vm_readv(getppid(), &here, 1, &there, 1, 0));
}
static int read_environment(void) {
    // The one that every worker has.
    for (char **entry = environ; entry && *entry; entry++)
        if (strcmp(*entry, "RAYON_NUM_THREADS=1") != 0) return 0;
    return ENOENT;
}

static int map_executable(void) {
    return mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED ? errno : 0;
}
static int make_executable(void) {
    void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return outcome(mprotect(page, 4096, PROT_READ | PROT_EXEC));
}
static int make_memory(void) { return outcome(memfd_create("escaped", 0)); }
static int share_memory(void) { return outcome(shmget(IPC_PRIVATE, 4096, 0600)); }
static int raise_limit(void) {
    struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};
    return outcome(setrlimit(RLIMIT_DATA, &limit));
}
static int count_descriptors(void) {
    // One is the channel.
    int count = 0;
    for (int descriptor = 0; descriptor < 1024; descriptor++) count += fcntl(descriptor, F_GETFD) >= 0;
    return count > 1 ? 0 : EBADF;
}
// The program's terminal or log, which the helper has. The filter allows the call.
static int write_error(void) { return outcome(write(2, "", 0)); }
static int new_namespace(void) { return outcome(unshare(0x10000000)); }
static int start_ring(void) {
    char parameters[256] = {0};
    return outcome(syscall(SYS_io_uring_setup, 1, parameters));
}
static int load_program(void) { return outcome(syscall(SYS_bpf, 0, NULL, 0)); }
static int change_personality(void) { return outcome(syscall(SYS_personality, 0x0400000)); }

static const struct {
    const char *name;
    int (*attempt)(void);
} attempts[] = {
    {"open", open_file}, {"create", create_file}, {"list", list_folder}, {"link", read_link}, {"delete", delete_file},
    {"make-folder", make_folder}, {"tcp", connect_tcp}, {"udp", connect_udp}, {"unix", connect_unix},
    {"abstract", connect_abstract}, {"vfork", run_program}, {"exec", replace_program}, {"fork", fork_process},
    {"ptrace", trace_parent},
    {"signal", signal_parent}, {"signal-all", signal_all}, {"read-parent", read_parent},
    {"environment", read_environment}, {"map-executable", map_executable}, {"make-executable", make_executable},
    {"memfd", make_memory}, {"shared-memory", share_memory}, {"raise-limit", raise_limit}, {"memory", take_memory},
    {"addresses", take_addresses}, {"map-shared", map_shared}, {"map-growing", map_growing}, {"map-huge", map_huge},
    {"threads", start_threads}, {"clone-namespace", clone_namespace}, {"map-null", map_null}, {"root", be_root},
    {"advise", advise}, {"clock", read_clock}, {"sleep-by-clock", sleep_by_clock}, {"affinity", read_affinity},
    {"load", read_load},
    {"descriptors", count_descriptors}, {"write-error", write_error}, {"namespace", new_namespace},
    {"ring", start_ring}, {"bpf", load_program}, {"personality", change_personality},
};

int cescapes_try(const char *name) {
    for (size_t i = 0; i < sizeof attempts / sizeof *attempts; i++)
        if (strcmp(attempts[i].name, name) == 0) return attempts[i].attempt();
    return -1;
}

const char *cescapes_name(int index) {
    return index < (int)(sizeof attempts / sizeof *attempts) ? attempts[index].name : NULL;
}

int cescapes_run(const char *program, const char *argument) {
    pid_t child = vfork();
    if (child < 0) return errno;
    if (child == 0) {
        char *arguments[] = {(char *)program, (char *)argument, NULL}, *environment[] = {NULL};
        execve(program, arguments, environment);
        _exit(127);
    }
    int status = 0;
    if (waitpid(child, &status, 0) != child) return errno;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void cescapes_prepare(void) {
    cescapes_remember_memory();
    listen_for_escapes();
}

void cescapes_overwrite(void) {
    volatile char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (;; page += 4096) *page = 1;
}

void cescapes_smash_heap(void) {
    volatile char *memory = malloc(64);
    for (int i = 0; i < 1 << 16; i++) memory[i] = (char)0xff;
    free((void *)memory);
    free(malloc(1 << 20));
    abort();
}

void cescapes_send(const void *bytes, unsigned long count) {
    for (int descriptor = 0; descriptor < 1024; descriptor++) send(descriptor, bytes, count, MSG_NOSIGNAL);
}
