import CThread

/// Returns memory that the process has freed, but the allocator keeps, to the system. Takes milliseconds.
package func returnFreedMemory() { cthread_return_memory() }

/// Has large blocks of memory returned to the system as soon as they are freed, in the whole program. For a program that works
/// on pictures without a pause, whose allocator would otherwise keep several times what is in use.
package func returnLargeBlocksAtOnce() { cthread_return_large_blocks() }
