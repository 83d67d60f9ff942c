/// A dictionary that knows in which order its entries were last used.
///
/// The order is a list linked by indices in one array, so that a use moves two numbers and allocates nothing.
struct LeastRecentlyUsed<Key: Hashable, Value> {
    private struct Node {
        var key: Key
        var value: Value?
        var newer: Int
        var older: Int
    }

    private static var none: Int { -1 }

    private var places: [Key: Int] = [:]
    private var nodes: [Node] = []
    private var free: [Int] = []
    private var newest = none
    private var oldest = none

    var count: Int { places.count }

    /// The keys, the least recently used first.
    var keys: [Key] {
        var keys: [Key] = []
        var place = oldest
        while place != Self.none {
            keys.append(nodes[place].key)
            place = nodes[place].newer
        }
        return keys
    }

    /// Calls `body` with the values, the most recently used first, until it returns `false`.
    func forEachFromNewest(_ body: (Value) -> Bool) {
        var place = newest
        while place != Self.none, let value = nodes[place].value, body(value) { place = nodes[place].older }
    }

    /// Returns a value without marking it as used.
    func peek(_ key: Key) -> Value? { places[key].flatMap { nodes[$0].value } }

    /// Marks an entry as the most recently used, and calls `update`, which may change it in place.
    mutating func use<Result>(_ key: Key, _ update: (inout Value?) -> Result?) -> Result? {
        guard let place = places[key] else { return nil }
        if place != newest {
            unlink(place)
            link(place)
        }
        return update(&nodes[place].value)
    }

    /// Changes a value without marking it as used.
    mutating func change(_ key: Key, _ change: (inout Value) -> Void) {
        guard let place = places[key], var value = nodes[place].value else { return }
        change(&value)
        nodes[place].value = value
    }

    /// Adds an entry as the most recently used, and returns the one that it replaces.
    mutating func insert(_ value: Value, for key: Key) -> Value? {
        let replaced = remove(key)
        let node = Node(key: key, value: value, newer: Self.none, older: Self.none)
        let place: Int
        if let reused = free.popLast() {
            nodes[reused] = node
            place = reused
        } else {
            nodes.append(node)
            place = nodes.count - 1
        }
        places[key] = place
        link(place)
        return replaced
    }

    /// Removes an entry.
    mutating func remove(_ key: Key) -> Value? {
        guard let place = places.removeValue(forKey: key) else { return nil }
        unlink(place)
        free.append(place)
        defer { nodes[place].value = nil }
        return nodes[place].value
    }

    /// Removes the least recently used entry.
    mutating func removeOldest() -> Value? { oldestKey.flatMap { remove($0) } }

    /// The key of the least recently used entry.
    var oldestKey: Key? { oldest == Self.none ? nil : nodes[oldest].key }

    private mutating func link(_ place: Int) {
        nodes[place].older = newest
        nodes[place].newer = Self.none
        if newest == Self.none { oldest = place } else { nodes[newest].newer = place }
        newest = place
    }

    private mutating func unlink(_ place: Int) {
        let node = nodes[place]
        if node.newer == Self.none { newest = node.older } else { nodes[node.newer].older = node.older }
        if node.older == Self.none { oldest = node.newer } else { nodes[node.older].newer = node.newer }
    }
}
