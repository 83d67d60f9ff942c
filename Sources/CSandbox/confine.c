#define _GNU_SOURCE
#include <errno.h>
#include <linux/types.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "filter.h"

// Debian 12's headers describe an older Landlock than newer kernels have, so the structure is repeated here, as in
// linux/landlock.h of 6.12. The numbers of the calls are the same on all architectures.
struct landlock_rules {
    uint64_t files;
    uint64_t network;
    uint64_t scopes;
};

enum { CREATE_RULESET = 444, RESTRICT_SELF = 446, ASK_VERSION = 1 };

/// The accesses to files that a version of Landlock knows.
static uint64_t landlock_files(int version) {
    int count = version >= 5 ? 16 : version >= 3 ? 15 : version >= 2 ? 14 : 13;
    return (UINT64_C(1) << count) - 1;
}

static int32_t confine_by_landlock(void) {
    int version = (int)syscall(CREATE_RULESET, NULL, 0, ASK_VERSION);
    if (version < 1) return 0;
    struct landlock_rules rules = {.files = landlock_files(version)};
    int32_t measures = CSANDBOX_NO_FILES;
    size_t size = sizeof rules.files;
    if (version >= 4) {
        // Binding and connecting.
        rules.network = 3;
        size += sizeof rules.network;
        measures |= CSANDBOX_NO_TCP;
    }
    if (version >= 6) {
        // Abstract sockets and signals.
        rules.scopes = 3;
        size += sizeof rules.scopes;
        measures |= CSANDBOX_SCOPED;
    }
    int ruleset = (int)syscall(CREATE_RULESET, &rules, size, 0);
    if (ruleset < 0) return 0;
    bool is_confined = syscall(RESTRICT_SELF, ruleset, 0) == 0;
    close(ruleset);
    return is_confined ? measures : 0;
}

static bool limit(__rlimit_resource_t resource, uint64_t value) {
    struct rlimit limit = {.rlim_cur = value, .rlim_max = value};
    return setrlimit(resource, &limit) == 0;
}

/// The private writable memory that the process has, which RLIMIT_DATA counts.
static uint64_t present_memory(void) {
    FILE *file = fopen("/proc/self/statm", "re");
    if (!file) return 0;
    unsigned long total, resident, shared, text, library, data = 0;
    if (fscanf(file, "%lu %lu %lu %lu %lu %lu", &total, &resident, &shared, &text, &library, &data) != 6) data = 0;
    fclose(file);
    return (uint64_t)data * (uint64_t)sysconf(_SC_PAGESIZE);
}

static bool set_limits(csandbox_plan plan) {
    bool done = limit(RLIMIT_CORE, 0);
    if (plan.memory) done = limit(RLIMIT_DATA, present_memory() + plan.memory) && done;
    // A soft limit below the hard one would send a signal first, which a decoder could catch.
    if (plan.seconds) done = limit(RLIMIT_CPU, plan.seconds) && done;
    return done;
}

static bool close_all_but(int channel) {
    bool done = channel == 0 || close_range(0, (unsigned)channel - 1, 0) == 0;
    return close_range((unsigned)channel + 1, ~0U, 0) == 0 && done && limit(RLIMIT_NOFILE, 0);
}

/// Lets a crash end the process at once. Swift's handler would try to start a program that prints the stack, with state
/// that the crash may have destroyed: one handler waited forever for a lock.
static void end_by_signals(void) {
    static const int crashes[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGQUIT};
    for (size_t i = 0; i < sizeof crashes / sizeof *crashes; i++) signal(crashes[i], SIG_DFL);
}

int32_t csandbox_confine(csandbox_plan plan, int channel) {
    int32_t wanted = ~plan.without, measures = 0;
    // The server may have ended before the signal was asked for; it is never process 1, which adopts orphans.
    pid_t server = getppid();
    if (wanted & CSANDBOX_DIES_WITH_PARENT && prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) == 0) {
        if (getppid() != server || server == 1) _exit(1);
        measures |= CSANDBOX_DIES_WITH_PARENT;
    }
    if (wanted & CSANDBOX_NO_NEW_PRIVILEGES && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0)
        measures |= CSANDBOX_NO_NEW_PRIVILEGES;
    if (wanted & CSANDBOX_LIMITS && set_limits(plan)) measures |= CSANDBOX_LIMITS;
    if (wanted & CSANDBOX_NO_FILES) measures |= confine_by_landlock();
    if (wanted & CSANDBOX_NO_DESCRIPTORS && close_all_but(channel)) measures |= CSANDBOX_NO_DESCRIPTORS;
    if (wanted & CSANDBOX_NOT_DUMPABLE && prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0) measures |= CSANDBOX_NOT_DUMPABLE;
    if (clearenv() != 0) environ = NULL;
    end_by_signals();
    // Last, since it forbids what the others need. It allows threads, which this limit counts as processes, so that the
    // limit is for systems without the filter; there, HEIC can't be decoded.
    if (wanted & CSANDBOX_FILTERED_CALLS && filter_calls()) return measures | CSANDBOX_FILTERED_CALLS;
    if (wanted & CSANDBOX_LIMITS) limit(RLIMIT_NPROC, 0);
    return measures;
}
