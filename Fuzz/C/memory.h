/// Measures the peak of allocated memory in this program and all libraries.
#ifndef MEMORY_H
#define MEMORY_H

#include <sanitizer/allocator_interface.h>
#include <stddef.h>

static size_t counted_now, counted_most;

static void count_malloc(const volatile void *memory, size_t size) {
    (void)memory;
    counted_now += size;
    if (counted_now > counted_most) counted_most = counted_now;
}

static void count_free(const volatile void *memory) {
    size_t size = memory ? __sanitizer_get_allocated_size(memory) : 0;
    counted_now -= size < counted_now ? size : counted_now;
}

/// Starts counting. Memory that is already allocated doesn't count.
static inline void start_counting(void) {
    static int is_installed;
    if (!is_installed) is_installed = __sanitizer_install_malloc_and_free_hooks(count_malloc, count_free);
    counted_now = counted_most = 0;
}

#endif
