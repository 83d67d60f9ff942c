#ifdef LINUX
#define _GNU_SOURCE
#include "measures.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "rules.h"

#if defined(__x86_64__)
#define RESULT(context) (context)->uc_mcontext.gregs[REG_RAX]
#else
#define RESULT(context) (context)->uc_mcontext.regs[0]
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

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
/// ThreadSanitizer ends a process that is refused this advice, unless it is told that it can do without.
const char *__tsan_default_options(void);
const char *__tsan_default_options(void) { return "use_madv_dontdump=0"; }
#endif
#endif

/// Isn't done, and succeeds.
#define SUCCEED FAIL(0)
/// Allows a call.
#define CALL(number) JUMP_IF(BPF_JEQ, number, 0, 1), ALLOW
/// Allows a call if an argument has none of these bits.
#define CALL_WITHOUT(number, argument, bits, otherwise) \
    JUMP_IF(BPF_JEQ, number, 0, 4), LOAD(args[argument]), JUMP_IF(BPF_JSET, bits, 0, 1), otherwise, ALLOW
/// Allows a call if neither of two arguments has any of its bits.
#define CALL_WITHOUT_BOTH(number, first, bits, second, others, otherwise) \
    JUMP_IF(BPF_JEQ, number, 0, 6), LOAD(args[first]), JUMP_IF(BPF_JSET, bits, 2, 0), LOAD(args[second]), \
        JUMP_IF(BPF_JSET, others, 0, 1), otherwise, ALLOW
/// Allows a call if an argument is one of two numbers.
#define CALL_WITH(number, argument, one, other, otherwise) \
    JUMP_IF(BPF_JEQ, number, 0, 5), LOAD(args[argument]), JUMP_IF(BPF_JEQ, one, 2, 0), \
        JUMP_IF(BPF_JEQ, other, 1, 0), otherwise, ALLOW

/// The C library's flags of a new thread. Others would make namespaces or processes.
#define THREAD \
    (CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM | CLONE_SETTLS \
     | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID)
/// The flags of memory of a process's own. RLIMIT_DATA counts neither shared memory nor memory that grows like a stack.
#define OWN_MEMORY (MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_FIXED_NOREPLACE | MAP_NORESERVE | MAP_STACK)
/// Numbers of clocks below zero are those of files, and of the processor time of any process.
#define OTHERS_CLOCKS (UINT32_C(1) << 31)

static int compare(const void *one, const void *other) {
    (void)one, (void)other;
    return 0;
}

bool filter_calls(void) {
    // From a kilobyte on, qsort of older C libraries asks once how much memory there is, and keeps the reply.
    char bytes[2048] = {0};
    qsort(bytes, sizeof bytes, 1, compare);
    struct sigaction action = {.sa_sigaction = refuse, .sa_flags = SA_SIGINFO | SA_NODEFER};
    if (sigaction(SIGSYS, &action, NULL) != 0) return false;
    pid_t own = getpid();
    struct sock_filter rules[] = {
        LOAD(arch), JUMP_IF(BPF_JEQ, ARCHITECTURE, 1, 0), KILL,
        LOAD(nr),
        // The most frequent ones first. None opens anything: the process can only compute and use its channel.
        CALL(SYS_recvfrom), CALL(SYS_sendto), CALL(SYS_futex), CALL(SYS_munmap), CALL(SYS_brk), CALL(SYS_mremap),
        CALL_WITHOUT_BOTH(SYS_mmap, 2, PROT_EXEC, 3, ~OWN_MEMORY, TRAP),
        CALL_WITHOUT(SYS_mprotect, 2, PROT_EXEC, TRAP),
        // What malloc uses. Others take pages from files, or as root from the machine. A library does without advice.
        CALL_WITH(SYS_madvise, 2, MADV_DONTNEED, MADV_FREE, FAIL(EINVAL)),
        CALL_WITHOUT(SYS_clock_gettime, 0, OTHERS_CLOCKS, TRAP),
        CALL_WITHOUT(SYS_clock_nanosleep, 0, OTHERS_CLOCKS, TRAP),
        CALL(SYS_sched_yield), CALL(SYS_getrandom), CALL(SYS_getpid), CALL(SYS_gettid), CALL(SYS_rt_sigprocmask),
        CALL(SYS_rt_sigaction), CALL(SYS_rt_sigreturn), CALL(SYS_restart_syscall), CALL(SYS_exit),
        CALL(SYS_exit_group),
        // Libraries' warnings, which go to a closed descriptor.
        CALL(SYS_write), CALL(SYS_writev),
        // abort() signals the process itself.
        CALL_WITH(SYS_tgkill, 0, own, own, TRAP),
        // Threads, but no processes: libde265 and librsvg start some of their own. The flags of clone3 are in
        // memory, where a filter can't read them; without it the C library uses clone.
        JUMP_IF(BPF_JEQ, SYS_clone3, 0, 1), FAIL(ENOSYS),
        CALL_WITH(SYS_clone, 0, THREAD, THREAD, TRAP),
        CALL(SYS_set_robust_list), CALL(SYS_rseq),
        // Its own processors: the calling thread's by 0, or the main thread's. The C library does without others'.
        CALL_WITH(SYS_sched_getaffinity, 0, 0, own, FAIL(ENOSYS)),
        // Of no harm, and what the sanitizers' threads need.
        CALL(SYS_sigaltstack), CALL(SYS_gettimeofday), CALL(SYS_nanosleep),
        // Whether a file can be read, which cairo asks before it uses a font that is in memory. The kernel isn't asked: every
        // file exists, and tells nothing.
#ifdef SYS_access
        JUMP_IF(BPF_JEQ, SYS_access, 0, 1), SUCCEED,
#endif
        JUMP_IF(BPF_JEQ, SYS_faccessat, 0, 1), SUCCEED,
        // The machine's load and free memory, which tell of others' work.
        JUMP_IF(BPF_JEQ, SYS_sysinfo, 0, 1), FAIL(ENOSYS),
        // Everything else fails and is counted. It isn't ended, since newer libraries may try a call of no harm and do
        // without it.
        TRAP,
    };
    struct sock_fprog program = {.len = sizeof rules / sizeof *rules, .filter = rules};
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0;
}
#endif
