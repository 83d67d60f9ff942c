#include "CThread.h"

#include <stdlib.h>

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
