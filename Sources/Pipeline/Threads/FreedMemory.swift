import CThread

/// Gives the memory back to the system that the process has freed and the allocator keeps. Takes milliseconds.
package func returnFreedMemory() { cthread_return_memory() }
