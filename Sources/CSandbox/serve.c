#ifdef LINUX
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "measures.h"

/// Sends a message with descriptors. Returns 0 or an error number.
static int send_descriptors(int socket, void *message, size_t count, const int *descriptors, size_t number) {
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(3 * sizeof(int))];
    } control = {0};
    struct iovec part = {.iov_base = message, .iov_len = count};
    struct msghdr all = {.msg_iov = &part, .msg_iovlen = 1};
    if (number > 0) {
        all.msg_control = &control;
        all.msg_controllen = CMSG_SPACE(number * sizeof(int));
        struct cmsghdr *header = CMSG_FIRSTHDR(&all);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(number * sizeof(int));
        memcpy(CMSG_DATA(header), descriptors, number * sizeof(int));
    }
    ssize_t sent;
    do sent = sendmsg(socket, &all, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent < 0 ? errno : 0;
}

/// Receives a message with `number` descriptors or none. Returns 0, EPIPE at the end, or another error number.
static int receive_descriptors(int socket, void *message, size_t count, int *descriptors, size_t number) {
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(3 * sizeof(int))];
    } control = {0};
    struct iovec part = {.iov_base = message, .iov_len = count};
    struct msghdr all = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = CMSG_SPACE(number * sizeof(int))};
    for (size_t i = 0; i < number; i++) descriptors[i] = -1;
    ssize_t received;
    do received = recvmsg(socket, &all, MSG_CMSG_CLOEXEC);
    while (received < 0 && errno == EINTR);
    if (received < 0) return errno;
    if (received == 0) return EPIPE;
    struct cmsghdr *header = CMSG_FIRSTHDR(&all);
    if (header && header->cmsg_type == SCM_RIGHTS && header->cmsg_len == CMSG_LEN(number * sizeof(int)))
        memcpy(descriptors, CMSG_DATA(header), number * sizeof(int));
    return (size_t)received == count ? 0 : EBADMSG;
}

static void *shrink_heap(void *nothing) {
    enum { COUNT = 64, SIZE = 16384 };
    void *volatile blocks[COUNT];
    for (int i = 0; i < COUNT; i++) blocks[i] = malloc(SIZE);
    for (int i = 0; i < COUNT; i++) free(blocks[i]);
    return nothing;
}

void csandbox_settle_malloc(void) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, shrink_heap, NULL) == 0) pthread_join(thread, NULL);
}

/// What the server says of a worker, along with its pidfd.
struct reply {
    int status, process;
};

static void child_ended(int signal) { (void)signal; }

/// The workers whose threads are counted, and where the kernel asks about each.
enum { MOST_COUNTED = 256 };
static struct {
    pid_t process;
    int questions;
} counted[MOST_COUNTED];
static size_t counted_count;

/// Collects workers that have ended.
static void collect(void) {
    pid_t ended;
    while ((ended = waitpid(-1, NULL, WNOHANG)) > 0)
        for (size_t i = 0; i < counted_count; i++)
            if (counted[i].process == ended) {
                close(counted[i].questions);
                counted[i--] = counted[--counted_count];
            }
}

/// In a new worker: lets the kernel ask the server about its threads.
static bool let_count(int report) {
    int questions = ask_about_threads();
    char empty = 0;
    int error = send_descriptors(report, &empty, 1, &questions, questions >= 0);
    if (questions >= 0) close(questions);
    return questions >= 0 && error == 0;
}

/// In the server: counts the threads of a worker that lets it.
static void count_threads(pid_t process, int report) {
    char empty;
    int questions = -1;
    if (receive_descriptors(report, &empty, 1, &questions, 1) != 0 || questions < 0) return;
    counted[counted_count].process = process, counted[counted_count++].questions = questions;
}

/// Forks a worker. Returns its process; 0 in the worker; -1 with an error number.
static pid_t fork_worker(csandbox_worker *worker, int control, const int *descriptors, const sigset_t *unblocked) {
    int report[2] = {-1, -1};
    bool counts = !(worker->plan.without & CSANDBOX_COUNTED_THREADS) && counted_count < MOST_COUNTED
        && csandbox_channel(report) == 0;
    pid_t process = fork();
    if (process != 0) {
        if (counts) close(report[1]);
        if (counts && process > 0) count_threads(process, report[0]);
        if (counts) close(report[0]);
        return process;
    }
    signal(SIGCHLD, SIG_DFL);
    sigprocmask(SIG_SETMASK, unblocked, NULL);
    close(control);
    for (size_t i = 0; i < counted_count; i++) close(counted[i].questions);
    if (counts) close(report[0]);
    if (!counts || !let_count(report[1])) worker->plan.without |= CSANDBOX_COUNTED_THREADS;
    if (counts) close(report[1]);
    worker->channel = descriptors[0], worker->input = descriptors[1], worker->output = descriptors[2];
    return 0;
}

bool csandbox_serve(int control, csandbox_worker *worker, csandbox_prepare prepare, void *context) {
    // The signal only interrupts the wait, so that ended workers are collected at once.
    struct sigaction action = {.sa_handler = child_ended};
    sigset_t blocked, unblocked;
    sigaction(SIGCHLD, &action, NULL);
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGCHLD);
    sigprocmask(SIG_BLOCK, &blocked, &unblocked);
    for (;;) {
        collect();
        struct pollfd wait[1 + MOST_COUNTED] = {{.fd = control, .events = POLLIN}};
        size_t count = counted_count;
        for (size_t i = 0; i < count; i++) wait[i + 1] = (struct pollfd){.fd = counted[i].questions, .events = POLLIN};
        if (ppoll(wait, 1 + count, NULL, &unblocked) < 0) continue;
        for (size_t i = 0; i < count; i++)
            if (wait[i + 1].revents & POLLIN) answer_about_thread(wait[i + 1].fd);
        if (!wait[0].revents) continue;
        int descriptors[3];
        int error = receive_descriptors(control, &worker->plan, sizeof worker->plan, descriptors, 3);
        // The program has ended; if it hadn't read a reply, the socket is reset. Other errors would come again too.
        if (error && error != EBADMSG) return false;
        int pidfd = -1, status = error ? error : descriptors[2] < 0 ? EBADMSG : 0;
        if (status == 0) prepare(worker->plan.preparation, context);
        pid_t process = status == 0 ? fork_worker(worker, control, descriptors, &unblocked) : -1;
        if (process == 0) return true;
        if (status == 0 && process < 0) status = errno;
        // The worker isn't collected before this, so its number can't be another process's.
        if (status == 0 && (pidfd = (int)syscall(SYS_pidfd_open, process, 0)) < 0) status = errno;
        for (int i = 0; i < 3; i++)
            if (descriptors[i] >= 0) close(descriptors[i]);
        struct reply reply = {.status = status, .process = process};
        send_descriptors(control, &reply, sizeof reply, &pidfd, pidfd < 0 ? 0 : 1);
        if (pidfd >= 0) close(pidfd);
        else if (process > 0) kill(process, SIGKILL);
    }
}

int csandbox_request_worker(int control, csandbox_worker worker, csandbox_process *process) {
    int descriptors[] = {worker.channel, worker.input, worker.output};
    int error = send_descriptors(control, &worker.plan, sizeof worker.plan, descriptors, 3);
    if (error) return error;
    struct reply reply = {0};
    error = receive_descriptors(control, &reply, sizeof reply, &process->descriptor, 1);
    process->number = reply.process;
    return error ? error : reply.status ? reply.status : process->descriptor < 0 ? EBADMSG : 0;
}

int csandbox_spawn(const char *path, int *process, int *control) {
    enum { CONTROL = 3 };
    int ends[2];
    int error = csandbox_channel(ends);
    if (error) return error;
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    sigemptyset(&none);
    sigfillset(&all);
    // Ctrl-C is for the program, which ends its workers itself; so the server is in a group of its own.
    posix_spawnattr_setflags(
        &attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDWR, 0);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_RDWR, 0);
    posix_spawn_file_actions_adddup2(&actions, ends[1], CONTROL);
#ifdef __GLIBC__
    // Musl has no such action. There the server keeps what the program doesn't close on exec; its workers don't.
    posix_spawn_file_actions_addclosefrom_np(&actions, CONTROL + 1);
#endif
    char *arguments[] = {"pipeline-decoder", path ? NULL : (char *)diverting_argument, NULL};
    // Where the program's own libraries may be.
    char libraries[PATH_MAX] = "LD_LIBRARY_PATH=";
    const char *folders = secure_getenv("LD_LIBRARY_PATH");
    size_t used = strlen(libraries);
    if (folders && strlen(folders) < sizeof libraries - used) strcpy(libraries + used, folders);
    // Nothing of an image is left in freed memory, in the C library's caches of small pieces or of threads' stacks, nor in
    // GLib's.
    char *environment[] = {
        "GLIBC_TUNABLES=glibc.malloc.perturb=165:glibc.malloc.tcache_count=0:glibc.pthread.stack_cache_size=0",
        "G_SLICE=always-malloc",
        libraries,
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
        // Libraries keep memory until they end. The program's own options don't reach the helper.
        "ASAN_OPTIONS=detect_leaks=0",
#endif
#endif
        NULL};
    error = posix_spawn(process, path ? path : "/proc/self/exe", &actions, &attributes, arguments, environment);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    close(ends[1]);
    if (error) close(ends[0]);
    else *control = ends[0];
    return error;
}
#endif
