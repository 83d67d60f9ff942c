/// Up to 512 values. Those that are asked for stay, however many others come: half of the room is for the latest, and what is
/// asked for becomes one of them again.
struct RecentValues<Key: Hashable, Value> {
    private var latest: [Key: Value] = [:]
    private var earlier: [Key: Value] = [:]
    private static var maximumLatest: Int { 256 }

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
}
