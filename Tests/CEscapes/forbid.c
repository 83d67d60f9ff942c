#define _GNU_SOURCE
#include "CEscapes.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define FAIL(error) BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (error))
#define ALLOW BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
#define CALL(number, error) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1), FAIL(error)

static int install(struct sock_filter *rules, size_t count) {
    struct sock_fprog program = {.len = (unsigned short)count, .filter = rules};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return errno;
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0 ? 0 : errno;
}

int cescapes_forbid(const char *call) {
    enum { CREATE_RULESET = 444 };
    if (strcmp(call, "landlock") == 0) {
        struct sock_filter rules[] = {LOAD(nr), CALL(CREATE_RULESET, ENOSYS), ALLOW};
        return install(rules, sizeof rules / sizeof *rules);
    }
    if (strcmp(call, "seccomp") == 0) {
        struct sock_filter rules[] = {
            LOAD(nr), CALL(SYS_seccomp, ENOSYS), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_prctl, 0, 3), LOAD(args[0]),
            BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PR_SET_SECCOMP, 0, 1), FAIL(EINVAL), ALLOW};
        return install(rules, sizeof rules / sizeof *rules);
    }
    if (strcmp(call, "namespaces") == 0) {
        struct sock_filter rules[] = {
            LOAD(nr), CALL(SYS_unshare, EPERM), CALL(SYS_setns, EPERM), CALL(SYS_clone3, ENOSYS),
            BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 3), LOAD(args[0]),
            BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_NEWUSER, 0, 1), FAIL(EPERM), ALLOW};
        return install(rules, sizeof rules / sizeof *rules);
    }
    return -1;
}
