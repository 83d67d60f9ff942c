import Pipeline

/// Removal from the caches while loads run: a load that began before a removal must not store afterwards.
extension Flights {
    /// Notes that a source is being removed. Loads that have begun by now don't store it, and later ones don't join them.
    ///
    /// Waiting refreshes are dropped: they aren't loads under way, so the removal could be forgotten before they begin and
    /// store its source again. The next load of a stale response asks for its refresh again.
    func noteRemoval(of source: SourceKey) {
        refreshes.dropWaiting()
        change { state in
            state.withdrawAll { $0.key.source == source || $0.origin == source }
            // Without loads under way, nothing could store it.
            guard !state.roots.isEmpty else { return }
            let number = state.number()
            state.removedAt[source] = number
            state.firstRemoval = min(state.firstRemoval, number)
            guard state.removedAt.count > 1000 else { return }
            // More than 1,000 removals aren't remembered one by one. Loads under way then store nothing at all.
            state.allRemovedAt = number
            (state.removedAt, state.firstRemoval) = ([:], .max)
        }
    }

    /// Notes that everything is being removed. Loads that have begun by now store nothing, and later ones don't join them.
    func noteRemovalOfAll() {
        refreshes.dropWaiting()
        change { state in
            state.withdrawAll { _ in true }
            state.allRemovedAt = state.number()
        }
    }

    /// Whether a source was removed after a load began.
    func isRemoved(_ source: SourceKey, since order: UInt64) -> Bool {
        state.withLock { max($0.allRemovedAt, $0.removedAt[source] ?? 0) > order }
    }

    /// Refreshes a stored response in the background, unless a refresh of it is under way.
    func refresh(_ generation: Int64, _ work: @escaping @Sendable () async -> Void) {
        refreshes.start(generation) {
            let root = self.change { state in
                let root = state.number()
                state.begin(root)
                return root
            }
            await work()
            self.endWork(root)
            await self.ended(root)
        }
    }
}

extension Flights.State {
    /// Withdraws the chosen flights, so that no load can join them.
    fileprivate mutating func withdrawAll(where isChosen: (FlightRecord) -> Bool) {
        for flight in joinable.values {
            guard let record = records[flight], isChosen(record) else { continue }
            withdraw(flight)
            if record.key.isFetch, record.members == 0 { settleSource(flight) }
        }
    }
}
