#ifndef CALLOCATIONS_H
#define CALLOCATIONS_H

#include <stdint.h>

/// How many blocks the calling thread has asked malloc, calloc, realloc and the aligned kinds for so far.
uint64_t allocations_on_this_thread(void);

/// How many blocks the whole process has asked for so far.
uint64_t allocations_in_all(void);

/// How many bytes malloc has given out that were not freed yet: unlike resident memory, without what it keeps for later.
uint64_t allocated_bytes(void);

/// Has malloc keep what is freed from now on, and use it again: new pages cost the kernel's time.
void keep_free_memory(void);

/// Gives the system back what malloc keeps for later.
void give_back_free_memory(void);

#endif
