#ifndef CTHREAD_H
#define CTHREAD_H

/// Lets the calling thread give way to the others: a smaller share of a processor that others want too (seven more of
/// nice(1)), and in turns so long that a thread which wakes up meanwhile need not wait for the end of one.
///
/// Linux has the length of turns since 6.12; older ones know the share alone. Where the system refuses, nothing changes.
void cthread_give_way(void);

/// Gives the memory back to the system that the process has freed and the allocator keeps. Takes milliseconds.
void cthread_return_memory(void);

#endif
