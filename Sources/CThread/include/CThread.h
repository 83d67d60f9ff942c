#ifndef CTHREAD_H
#define CTHREAD_H

#include <stdbool.h>

/// Lets the calling thread give way to other threads: it gets a smaller share of a contended processor (nice(1) plus 7).
///
/// With longer time slices, a thread that wakes up preempts it instead of waiting for its slice to end; but threads that
/// are busy as well wait longer, so they are for a thread that works little. Linux supports them since 6.12; older kernels
/// change only the share. If the system refuses, and elsewhere than on Linux, nothing changes.
void cthread_give_way(bool has_longer_slices);

/// Returns memory that the process has freed, but the allocator keeps, to the system. Takes milliseconds. Does nothing
/// with Musl.
void cthread_return_memory(void);

/// Has the allocator return blocks of 1 MB and more as soon as they are freed, for the whole program, and keep fewer lists of
/// free blocks. Does nothing without glibc.
void cthread_return_large_blocks(void);

#endif
