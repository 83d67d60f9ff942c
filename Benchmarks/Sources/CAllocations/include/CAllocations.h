#ifndef CALLOCATIONS_H
#define CALLOCATIONS_H

#include <stdint.h>

/// The number of blocks that the calling thread has requested from malloc, calloc, realloc and the aligned variants.
uint64_t allocations_on_this_thread(void);

/// The number of blocks that the whole process has requested.
uint64_t allocations_in_all(void);

/// The bytes that are allocated and not freed yet. Unlike resident memory, this excludes freed memory that malloc
/// keeps.
uint64_t allocated_bytes(void);

/// Makes malloc keep and reuse freed memory from now on, since new pages cost kernel time.
void keep_free_memory(void);

/// Returns the free memory that malloc keeps to the system.
void give_back_free_memory(void);

#endif
