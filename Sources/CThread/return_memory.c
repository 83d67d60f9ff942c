#include "CThread.h"

#include <stdlib.h>
#include <unistd.h>

#if defined(__APPLE__)
#include <malloc/malloc.h>
#elif defined(LINUX) && defined(__GLIBC__)
#include <malloc.h>
#endif

void cthread_return_memory(void)
{
#if defined(__APPLE__)
    malloc_zone_pressure_relief(NULL, 0);
#elif defined(LINUX) && defined(__GLIBC__)
    malloc_trim(0);
#endif
}

void cthread_return_large_blocks(void)
{
#if defined(LINUX) && defined(__GLIBC__)
    // glibc raises this to the size of each larger block that is freed, up to 32 MB, and then keeps most of what pictures
    // took. One that is set stays. The operator's own settings count.
    if (!getenv("MALLOC_MMAP_THRESHOLD_")) mallopt(M_MMAP_THRESHOLD, 1 << 20);
    // With a threshold that is set, this one stays at 128 KB, and every larger block would be taken from the system again.
    if (!getenv("MALLOC_TRIM_THRESHOLD_")) mallopt(M_TRIM_THRESHOLD, 4 << 20);
    // By default up to eight lists for each core, each of which keeps what its threads have freed.
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    if (!getenv("MALLOC_ARENA_MAX")) mallopt(M_ARENA_MAX, cores > 2 ? 2 * (int)cores : 4);
#endif
}
