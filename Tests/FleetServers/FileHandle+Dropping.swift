import Foundation

extension FileHandle {
    /// Reads and drops what a process writes until it ends, on a thread, so that it is never blocked.
    ///
    /// A `readabilityHandler` is no way to do so: its dispatch source may outlive the descriptor.
    func dropEverything() {
        Thread.detachNewThread { while !self.availableData.isEmpty {} }
    }
}
