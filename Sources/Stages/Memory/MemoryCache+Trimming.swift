import Pipeline

extension MemoryCache {
    /// Removes the least recently used entries until the others take at most this number of bytes.
    public func trim(toBytes limit: Int) { removeOldest(downTo: limit) }

    /// Checks regularly whether memory is short, until the cache is empty or released.
    func watch(_ pressure: MemoryPressure, clock: any LoadClock) {
        // Detached, since it would otherwise keep the task-local values of a load alive.
        Task.detached(priority: .low) { [weak self] in
            var earlier: MemoryPressure.Reading?
            while let current = try? await BlockingThreads.files.run(priority: .low, { _ in pressure.read() }) {
                guard await self?.relieve(current, after: earlier) == true else { return }
                earlier = current
                try? await clock.sleep(for: Self.watchInterval)
            }
        }
    }

    /// Halves the cache if memory is short.
    /// - Returns: Whether there is something left to watch.
    private func relieve(_ current: MemoryPressure.Reading, after earlier: MemoryPressure.Reading?) async -> Bool {
        guard !endsWatch() else { return false }
        guard MemoryPressure.isShort(current, since: earlier, after: Self.watchInterval) else { return true }
        // A small rest isn't worth keeping, and halving alone would never reach zero.
        trim(toBytes: byteCount < 1_000_000 ? 0 : byteCount / 2)
        // The allocator keeps freed memory; this returns it to the system.
        _ = try? await BlockingThreads.files.run(priority: .low) { _ in returnFreedMemory() }
        return true
    }

    /// The time between two checks.
    static let watchInterval = Duration.seconds(2)
}
