#ifdef LINUX
#define _GNU_SOURCE
#include <stdio.h>
#include <unistd.h>

#include "measures.h"

bool limit(int resource, uint64_t value) {
    struct rlimit inherited;
    if (getrlimit(resource, &inherited) != 0) return false;
    rlim_t least = value < inherited.rlim_max ? value : inherited.rlim_max;
    struct rlimit own = {.rlim_cur = least, .rlim_max = least};
    return setrlimit(resource, &own) == 0;
}

/// What the process has mapped, and its private writable part, in bytes.
static void present_memory(uint64_t *mapped, uint64_t *data) {
    *mapped = *data = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (!file) return;
    unsigned long pages, resident, shared, text, library, writable;
    if (fscanf(file, "%lu %lu %lu %lu %lu %lu", &pages, &resident, &shared, &text, &library, &writable) == 6) {
        uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
        *mapped = pages * page;
        *data = writable * page;
    }
    fclose(file);
}

static bool limit_memory(uint64_t memory) {
    uint64_t mapped, data;
    present_memory(&mapped, &data);
    // RLIMIT_DATA counts private writable memory only; RLIMIT_AS everything that is mapped, the slabs included.
    bool done = limit(RLIMIT_DATA, data + memory);
    return limit(RLIMIT_AS, mapped + memory) && done;
}

bool set_limits(csandbox_plan plan) {
    bool done = limit(RLIMIT_CORE, 0);
    if (plan.memory) done = limit_memory(plan.memory) && done;
    // A soft limit below the hard one would send a signal first, which a decoder could catch.
    if (plan.seconds) done = limit(RLIMIT_CPU, plan.seconds) && done;
    return done;
}
#endif
