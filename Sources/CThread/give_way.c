#define _GNU_SOURCE
#include "CThread.h"

#ifdef LINUX
#include <sched.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

// glibc has had these calls since 2.41; Debian 12 has 2.36. The structure is the first version of sched_setattr(2)'s.
struct scheduling {
    uint32_t size;
    uint32_t policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime;
    uint64_t deadline;
    uint64_t period;
};

void cthread_give_way(bool has_longer_slices)
{
    struct scheduling own = { 0 };
    // Keep a policy that was chosen for the whole program.
    if (syscall(SYS_sched_getattr, 0, &own, sizeof own, 0) != 0 || own.policy != SCHED_OTHER) return;
    own.size = sizeof own;
    own.nice = own.nice + 7 < 19 ? own.nice + 7 : 19;
    if (has_longer_slices) own.runtime = 100 * 1000 * 1000;
    syscall(SYS_sched_setattr, 0, &own, 0);
}
#else
void cthread_give_way(bool has_longer_slices) { (void)has_longer_slices; }
#endif
