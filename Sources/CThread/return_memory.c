#include "CThread.h"

#include <malloc.h>

void cthread_return_memory(void)
{
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}
