#ifdef LINUX
#define _GNU_SOURCE
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "measures.h"

bool csandbox_is_available(void) {
#ifdef __GLIBC__
    return true;
#else
    // Musl's malloc doesn't overwrite what is freed, and its threads may be started by other flags than the filter allows.
    return false;
#endif
}

/// close_range(2), for which Musl has no function.
static bool close_between(unsigned first, unsigned last) { return syscall(SYS_close_range, first, last, 0) == 0; }

static bool close_all_but(int channel) {
    bool done = channel == 0 || close_between(0, (unsigned)channel - 1);
    return close_between((unsigned)channel + 1, ~0U) && done && limit(RLIMIT_NOFILE, 0);
}

/// Lets a crash end the process at once. Swift's handler would try to start a program that prints the stack, with state
/// that the crash may have destroyed: one handler waited forever for a lock.
static void end_by_signals(void) {
    static const int crashes[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGQUIT};
    for (size_t i = 0; i < sizeof crashes / sizeof *crashes; i++) signal(crashes[i], SIG_DFL);
}

/// All that a worker's environment has. librsvg's filters would else start a thread for each processor.
static char *environment[] = {"RAYON_NUM_THREADS=1", NULL};

__attribute__((noinline)) void csandbox_clear_stack(void) {
    // Decoders use a few tens of kilobytes.
    char room[256 << 10];
    explicit_bzero(room, sizeof room);
}

int32_t csandbox_confine(csandbox_plan plan, int channel) {
    int32_t wanted = ~plan.without, measures = 0;
    if (wanted & CSANDBOX_NOT_ROOT && give_up_root()) measures |= CSANDBOX_NOT_ROOT;
    if (wanted & CSANDBOX_NO_CAPABILITIES && drop_capabilities()) measures |= CSANDBOX_NO_CAPABILITIES;
    // After the change of user, which clears it. The server may have ended before the signal was asked for; it is never
    // process 1, which adopts orphans.
    pid_t server = getppid();
    if (wanted & CSANDBOX_DIES_WITH_PARENT && prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) == 0) {
        if (getppid() != server || server == 1) _exit(1);
        measures |= CSANDBOX_DIES_WITH_PARENT;
    }
    if (wanted & CSANDBOX_NO_NEW_PRIVILEGES && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0)
        measures |= CSANDBOX_NO_NEW_PRIVILEGES;
    if (wanted & CSANDBOX_LIMITS && set_limits(plan)) measures |= CSANDBOX_LIMITS;
    measures |= confine_by_landlock(wanted);
    if (wanted & CSANDBOX_NO_DESCRIPTORS && close_all_but(channel)) measures |= CSANDBOX_NO_DESCRIPTORS;
    if (wanted & CSANDBOX_NOT_DUMPABLE && prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0) measures |= CSANDBOX_NOT_DUMPABLE;
    environ = environment;
    end_by_signals();
    // The server counts them.
    if (wanted & CSANDBOX_COUNTED_THREADS) measures |= CSANDBOX_COUNTED_THREADS;
    // Last, since it forbids what the others need. It allows threads, which this limit counts as processes, so that the
    // limit is for systems without the filter; there, HEIC can't be decoded.
    if (wanted & CSANDBOX_FILTERED_CALLS && filter_calls()) return measures | CSANDBOX_FILTERED_CALLS;
    if (wanted & CSANDBOX_LIMITS) limit(RLIMIT_NPROC, 0);
    return measures;
}
#endif
