import CThread

/// Returns memory that the process has freed, but the allocator keeps, to the system. Takes milliseconds.
package func returnFreedMemory() { cthread_return_memory() }
