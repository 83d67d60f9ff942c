import Pipeline

/// Fetches between their result and the storage of their bytes.
extension Flights {
    /// Returns true for the first member that asks, which then writes the original.
    func claim(_ flight: UInt64) -> Bool {
        change { state in
            guard let record = state.records[flight] else { return false }
            state.records[flight]?.claimed = true
            return !record.claimed
        }
    }

    /// Notes that the original may not be stored, for example because a newer response is.
    func refuse(_ flight: UInt64) { change { $0.records[flight]?.isRefused = true } }

    /// Whether the original may not be stored.
    func isRefused(_ flight: UInt64) -> Bool { state.withLock { $0.records[flight]?.isRefused ?? false } }

    /// Notes that the original is on disk. From now on only loads that began earlier may join.
    func stored(_ flight: UInt64) {
        change { state in
            let number = state.number()
            state.records[flight]?.storedAt = number
        }
    }

    /// Notes that a member has ended, with or without storing.
    func leaveSource(_ flight: UInt64) {
        change { state in
            state.records[flight]?.members -= 1
            if state.records[flight]?.members == 0 { state.settleSource(flight) }
        }
    }
}

extension Flights.State {
    /// Forgets a source's flight without members, unless a load under way may still need it: one that looked at the
    /// disk before the original was there.
    mutating func settleSource(_ flight: UInt64) {
        guard let record = records[flight], record.result != nil else { return }
        if record.result?.error == nil, let storedAt = record.storedAt, joinable[record.key] == flight,
            underWay[record.origin]?.contains(where: { $0 < storedAt }) == true
        {
            lingering[record.origin, default: []].append(flight)
            return
        }
        forget(flight)
    }

    /// Lets no further load join a flight. Its waiters stay.
    mutating func withdraw(_ flight: UInt64) {
        guard let key = records[flight]?.key, joinable[key] == flight else { return }
        joinable[key] = nil
    }

    /// Forgets a flight.
    mutating func forget(_ flight: UInt64) {
        guard let record = records[flight] else { return }
        withdraw(flight)
        records[flight] = nil
        removed.append(record)
        if slots.line.remove(record.turn) { turns.append((record.turn, .failure(CancellationError()))) }
        guard case .variant(let variant, _, _, _) = record.key, let order = record.order else { return }
        if let place = underWay[variant.source]?.firstIndex(of: order) { underWay[variant.source]?.remove(at: place) }
        if underWay[variant.source]?.isEmpty == true { underWay[variant.source] = nil }
        // A fetch may have been kept only for this load.
        for source in lingering.removeValue(forKey: variant.source) ?? [] { settleSource(source) }
    }
}
