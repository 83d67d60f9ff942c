#ifndef CTHREAD_H
#define CTHREAD_H

/// Lets the calling thread give way to other threads. It gets a smaller share of a contended processor (nice(1) plus 7)
/// and longer time slices, so that a thread that wakes up preempts it instead of waiting for its slice to end.
///
/// Linux supports the length of time slices since 6.12; older kernels change only the share. If the system refuses,
/// nothing changes.
void cthread_give_way(void);

/// Returns memory that the process has freed, but the allocator keeps, to the system. Takes milliseconds. Does nothing
/// without glibc.
void cthread_return_memory(void);

#endif
