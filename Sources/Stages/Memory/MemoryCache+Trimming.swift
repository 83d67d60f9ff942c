import Pipeline

extension MemoryCache {
    /// Removes the least recently used entries until the others take at most this number of bytes.
    public func trim(toBytes limit: Int) { removeOldest(downTo: limit) }

    /// Looks from time to time whether memory is short, until the cache is empty or gone.
    func watch(_ pressure: MemoryPressure, clock: any LoadClock) {
        // In no load's name: what it inherited would be kept by it.
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
        // Little is not worth keeping, and halves never end.
        trim(toBytes: byteCount < 1_000_000 ? 0 : byteCount / 2)
        // The allocator keeps what is freed; this gives it back.
        _ = try? await BlockingThreads.files.run(priority: .low) { _ in returnFreedMemory() }
        return true
    }

    /// The time between two looks.
    static let watchInterval = Duration.seconds(2)
}
