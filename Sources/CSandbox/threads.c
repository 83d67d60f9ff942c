#ifdef LINUX
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "measures.h"
#include "rules.h"

/// The most threads of a worker. libde265 and librsvg start one each, Pango one for each style of an SVG's text, for a
/// moment, and GLib ends the process if it gets none.
enum { MOST_THREADS = 128 };

/// The number of threads of a thread's process; -1 if it isn't known.
static long thread_count(unsigned thread) {
    char path[64];
    struct stat status;
    snprintf(path, sizeof path, "/proc/%u/task", thread);
    // Two links are the folder's own.
    return stat(path, &status) == 0 ? (long)status.st_nlink - 2 : -1;
}

int ask_about_threads(void) {
    struct sock_filter rules[] = {
        LOAD(arch), JUMP_IF(BPF_JEQ, ARCHITECTURE, 1, 0), KILL,
        LOAD(nr),
        JUMP_IF(BPF_JEQ, SYS_clone3, 0, 1), FAIL(ENOSYS),
        JUMP_IF(BPF_JEQ, SYS_clone, 0, 3), LOAD(args[0]),
        JUMP_IF(BPF_JSET, CLONE_THREAD, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
        ALLOW,
    };
    struct sock_fprog program = {.len = sizeof rules / sizeof *rules, .filter = rules};
    // Process 1 is visible unless this system hides the processes of others, and with them a worker's.
    if (thread_count(1) < 1 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -1;
    return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
}

bool csandbox_has_one_thread(void) {
    for (int attempts = 0; attempts < 1000; attempts++) {
        long count = thread_count((unsigned)getpid());
        // Without /proc it can't be known.
        if (count <= 1) return true;
        usleep(1000);
    }
    return false;
}

void answer_about_thread(int questions) {
    // Newer kernels may have larger structures.
    union {
        struct seccomp_notif question;
        char room[512];
    } call = {0};
    if (ioctl(questions, SECCOMP_IOCTL_NOTIF_RECV, &call) != 0) return;
    union {
        struct seccomp_notif_resp answer;
        char room[512];
    } reply = {.answer.id = call.question.id};
    // Threads that ask at the same time may all get one more, so that a process has twice as many at most.
    if (thread_count(call.question.pid) >= MOST_THREADS) reply.answer.error = -EAGAIN;
    else reply.answer.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
    // It fails if the thread has ended meanwhile.
    ioctl(questions, SECCOMP_IOCTL_NOTIF_SEND, &reply);
}
#endif
