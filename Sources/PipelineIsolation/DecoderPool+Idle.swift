import Pipeline

extension DecoderPool {
    /// How long a worker may be idle. One that was taken over could compute meanwhile.
    static let idleTime = Duration.seconds(10)

    /// Looks at idle workers until there are none.
    func watchIdle() {
        let isWatched = state.withLock { state in
            defer { state.isWatched = true }
            return state.isWatched
        }
        guard !isWatched else { return }
        Task.detached { [weak self, clock = start.clock] in
            repeat {
                do { try await clock.sleep(untilLimit: Self.idleTime) } catch { return }
            } while self?.endIdle() == true
        }
    }

    /// Ends the workers that have been idle for long. Returns whether there are others.
    private func endIdle() -> Bool {
        let latest = start.clock.uptimeNanoseconds - Int64(Self.idleTime / .nanoseconds(1))
        let (ended, isWatched) = state.withLock(wake: .all) { state in
            let ended = state.idle.filter { $0.idleSince <= latest }
            state.idle.removeAll { $0.idleSince <= latest }
            state.count -= ended.count
            state.isWatched = !state.idle.isEmpty
            return (ended, state.isWatched)
        }
        // They end as they are released, after the lock.
        _ = ended
        return isWatched
    }
}
