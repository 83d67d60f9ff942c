import Pipeline

/// Lets one task at a time do the work of a key.
final class Turns<Key: Hashable & Sendable>: Sendable {
    private let lines = Lock<[Key: (line: ConcurrencyLimit, users: Int)]>([:])

    /// Waits until no other task has the key. Each call that returns needs one of ``end(_:)``.
    /// - Throws: `CancellationError` if the task is cancelled.
    func take(_ key: Key, _ priority: LoadPriority) async throws {
        let line = lines.withLock { lines in
            lines[key, default: (ConcurrencyLimit(running: 1, waiting: .max), 0)].users += 1
            return lines[key]?.line
        }
        do {
            try await line?.enter(priority)
        } catch {
            leave(key)
            throw error
        }
    }

    /// Gives the key to the next task.
    func end(_ key: Key) {
        lines.withLock { $0[key]?.line }?.leave()
        leave(key)
    }

    private func leave(_ key: Key) {
        lines.withLock { lines in
            guard let users = lines[key]?.users else { return }
            if users > 1 { lines[key]?.users = users - 1 } else { lines[key] = nil }
        }
    }
}
