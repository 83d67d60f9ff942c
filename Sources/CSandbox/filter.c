#define _GNU_SOURCE
#include "filter.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#define RESULT(context) (context)->uc_mcontext.gregs[REG_RAX]
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#define RESULT(context) (context)->uc_mcontext.regs[0]
#else
#error "The filter knows the system calls of x86-64 and arm64."
#endif

static _Atomic uint64_t refused_count;
static _Atomic int last_refused;

uint64_t csandbox_refused_calls(int *last) {
    *last = atomic_load(&last_refused);
    return atomic_load(&refused_count);
}

/// Counts a refused call and lets it fail.
static void refuse(int signal, siginfo_t *info, void *context) {
    (void)signal;
    atomic_fetch_add(&refused_count, 1);
    atomic_store(&last_refused, info->si_syscall);
    RESULT((ucontext_t *)context) = -EPERM;
}

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define ALLOW BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
#define TRAP BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP)
#define MISSING BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS)
/// Isn't done, and succeeds.
#define SUCCEED BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO)
#define KILL BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)
/// Allows a call.
#define CALL(number) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1), ALLOW
/// Allows a call whose third argument, the protection of memory, lacks the right to execute. Both architectures are
/// little-endian, so the argument's low half comes first.
#define CALL_WITHOUT_EXEC(number) \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 4), LOAD(args[2]), \
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 0, 1), TRAP, ALLOW

/// What distinguishes a new thread from a new process.
#define THREAD (CLONE_VM | CLONE_SIGHAND | CLONE_THREAD)

bool filter_calls(void) {
    struct sigaction action = {.sa_sigaction = refuse, .sa_flags = SA_SIGINFO | SA_NODEFER};
    if (sigaction(SIGSYS, &action, NULL) != 0) return false;
    struct sock_filter rules[] = {
        LOAD(arch), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0), KILL,
        LOAD(nr),
        // The most frequent ones first. None opens anything: the process can only compute and use its channel.
        CALL(SYS_recvfrom), CALL(SYS_sendto), CALL(SYS_futex), CALL(SYS_munmap), CALL(SYS_madvise), CALL(SYS_brk),
        CALL(SYS_mremap), CALL(SYS_clock_gettime), CALL(SYS_clock_nanosleep), CALL(SYS_sched_yield),
        CALL(SYS_getrandom), CALL(SYS_getpid), CALL(SYS_gettid), CALL(SYS_rt_sigprocmask), CALL(SYS_rt_sigaction),
        CALL(SYS_rt_sigreturn), CALL(SYS_restart_syscall), CALL(SYS_exit), CALL(SYS_exit_group),
        // Libraries' warnings, which go to a closed descriptor.
        CALL(SYS_write), CALL(SYS_writev),
        CALL_WITHOUT_EXEC(SYS_mmap), CALL_WITHOUT_EXEC(SYS_mprotect),
        // abort() signals the process itself.
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_tgkill, 0, 4), LOAD(args[0]),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)getpid(), 1, 0), TRAP, ALLOW,
        // Threads, but no processes: libde265 and librsvg start some of their own. The flags of clone3 are in
        // memory, where a filter can't read them; without it the C library uses clone.
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 0, 1), MISSING,
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 5), LOAD(args[0]),
        BPF_STMT(BPF_ALU | BPF_AND | BPF_K, THREAD), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, THREAD, 0, 1), ALLOW, TRAP,
        CALL(SYS_set_robust_list), CALL(SYS_rseq), CALL(SYS_sched_getaffinity),
        // Of no harm, and what the sanitizers' threads need.
        CALL(SYS_sigaltstack), CALL(SYS_gettimeofday), CALL(SYS_nanosleep),
        // Whether a file can be read, which cairo asks before it uses a font that is in memory. The kernel isn't asked: every
        // file exists, and tells nothing.
#ifdef SYS_access
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_access, 0, 1), SUCCEED,
#endif
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_faccessat, 0, 1), SUCCEED,
        // How much memory there is, by which qsort chooses its algorithm.
        CALL(SYS_sysinfo),
        // Everything else fails and is counted. It isn't ended, since newer libraries may try a call of no harm and do
        // without it.
        TRAP,
    };
    struct sock_fprog program = {.len = sizeof rules / sizeof *rules, .filter = rules};
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0;
}
