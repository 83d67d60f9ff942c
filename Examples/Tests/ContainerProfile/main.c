// Runs a program with the system calls of a container: those that Docker's default profile refuses without privileges fail.
//
//     ContainerProfile current|without-landlock PROGRAM [ARGUMENT...]
//
// Profiles from before 2021 don't know Landlock's calls either, and refuse them.

#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

// The same numbers on all architectures.
enum { CREATE_RULESET = 444, RESTRICT_SELF = 446 };

static const int refused[] = {
    CREATE_RULESET, RESTRICT_SELF, SYS_mount, SYS_umount2, SYS_pivot_root, SYS_chroot, SYS_unshare, SYS_setns, SYS_keyctl,
    SYS_add_key, SYS_request_key, SYS_bpf, SYS_perf_event_open, SYS_userfaultfd, SYS_kexec_load, SYS_init_module,
    SYS_finit_module, SYS_delete_module, SYS_reboot, SYS_swapon, SYS_swapoff, SYS_open_by_handle_at, SYS_io_uring_setup,
    SYS_io_uring_enter, SYS_io_uring_register, SYS_fsopen, SYS_fsmount, SYS_move_mount, SYS_open_tree, SYS_quotactl,
    SYS_acct, SYS_settimeofday, SYS_clock_settime, SYS_sethostname, SYS_setdomainname, SYS_syslog, SYS_kcmp,
    SYS_pidfd_getfd, SYS_get_mempolicy, SYS_set_mempolicy, SYS_mbind, SYS_move_pages, SYS_fanotify_init,
};

#define LOAD(field) (struct sock_filter) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define JUMP_IF(kind, value, then, otherwise) \
    (struct sock_filter) BPF_JUMP(BPF_JMP | kind | BPF_K, value, then, otherwise)
#define FAIL(error) (struct sock_filter) BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (error))
#define ALLOW (struct sock_filter) BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

/// Refuses the calls from `first` on.
static int install(size_t first) {
    enum { COUNT = sizeof refused / sizeof *refused };
    const unsigned namespaces = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID
        | CLONE_NEWNET;
    struct sock_filter rules[2 * COUNT + 8] = {LOAD(nr)};
    unsigned short count = 1;
    for (size_t i = first; i < COUNT; i++) {
        rules[count++] = JUMP_IF(BPF_JEQ, refused[i], 0, 1);
        rules[count++] = FAIL(EPERM);
    }
    rules[count++] = JUMP_IF(BPF_JEQ, SYS_clone3, 0, 1);
    rules[count++] = FAIL(ENOSYS);
    rules[count++] = JUMP_IF(BPF_JEQ, SYS_clone, 0, 3);
    rules[count++] = LOAD(args[0]);
    rules[count++] = JUMP_IF(BPF_JSET, namespaces, 0, 1);
    rules[count++] = FAIL(EPERM);
    rules[count++] = ALLOW;
    struct sock_fprog program = {.len = count, .filter = rules};
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0) return 0;
    // Without privileges the system wants this first. Docker, which has them, doesn't set it.
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
}

int main(int count, char **arguments) {
    if (count < 3) return 64;
    if (install(strcmp(arguments[1], "current") == 0 ? 2 : 0) == 0) execvp(arguments[2], arguments + 2);
    perror(arguments[2]);
    return 127;
}
