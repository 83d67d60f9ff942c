import Pipeline

/// Up to 512 values. Those that are asked for stay, however many others come: half of the room is for the latest, and what is
/// asked for becomes one of them again.
struct RecentValues<Key: Hashable, Value> {
    private var latest: [Key: Value] = [:]
    private var earlier: [Key: Value] = [:]
    private static var maximumLatest: Int { 256 }
    /// The most values.
    static var maximumCount: Int { 2 * maximumLatest }

    /// The value for a key, if it is kept.
    subscript(key: Key) -> Value? {
        mutating get {
            if let value = latest[key] { return value }
            guard let value = earlier.removeValue(forKey: key) else { return nil }
            keep(value, key)
            return value
        }
    }

    /// Keeps a value.
    mutating func keep(_ value: Value, _ key: Key) {
        if latest.count >= Self.maximumLatest { (earlier, latest) = (latest, [:]) }
        latest[key] = value
    }

    /// Forgets a value.
    mutating func remove(_ key: Key) {
        latest[key] = nil
        earlier[key] = nil
    }
}

/// Values that were made lately: making one takes longer than a hit in memory.
final class Remembered<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private let recent = Lock(RecentValues<Key, Value>())

    /// Returns the value for a key, and makes it if it isn't remembered. Of those that are made at once the first counts.
    /// - Throws: What `make` throws.
    func value<Failure: Error>(_ key: Key, _ make: () throws(Failure) -> Value) throws(Failure) -> Value {
        if let value = recent.withLock({ $0[key] }) { return value }
        let made = try make()
        return recent.withLock { recent in
            if let first = recent[key] { return first }
            recent.keep(made, key)
            return made
        }
    }
}
