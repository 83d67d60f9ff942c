/// Objects that wait for their turn: the highest priority first, then first in, first out.
///
/// An object that moves to another priority keeps its age. Operations take logarithmic time, moves and removals included.
package struct PriorityLine<Element: AnyObject> {
    /// Neither these nor the places depend on `Element`: other modules use this type unspecialised, and its collections
    /// would then look up their own types at each step.
    private var elements: [ObjectIdentifier: (element: AnyObject, place: PriorityPlace)] = [:]
    /// The places of all elements, and some that are no longer used. The greatest is always in use.
    private var places = PlaceHeap()
    private var counts = InlineArray<5, Int>(repeating: 0)
    private var lastNumber: UInt64 = 0

    package init() {}

    /// The number of objects that wait.
    package var count: Int { elements.count }

    /// The number of objects that wait with a priority.
    package func count(_ priority: LoadPriority) -> Int { counts[Int(priority.rawValue)] }

    /// The number of places, unused ones included.
    var length: Int { places.count }

    /// The object whose turn is next.
    package var first: (element: Element, place: PriorityPlace)? {
        guard let place = places.max, let (element, _) = elements[place.element] else { return nil }
        // Safe: `occupy` alone adds objects, and takes elements.
        return (unsafeDowncast(element, to: Element.self), place)
    }

    /// Adds an object that doesn't wait here yet.
    /// - Parameter number: Its age, which grows with each call. Lines whose places are compared share their numbers.
    package mutating func enqueue(_ element: Element, _ priority: LoadPriority, number: UInt64? = nil) {
        lastNumber = number ?? lastNumber + 1
        occupy(PriorityPlace(priority: priority, number: lastNumber, element: ObjectIdentifier(element)), element)
    }

    /// Moves an object to another priority. Does nothing if it doesn't wait here.
    package mutating func move(_ element: Element, to priority: LoadPriority) {
        guard let old = elements[ObjectIdentifier(element)]?.place, old.priority != priority else { return }
        counts[Int(old.priority.rawValue)] -= 1
        occupy(PriorityPlace(priority: priority, number: old.number, element: old.element), element)
        dropLeftPlaces()
    }

    /// Removes an object; returns false if it doesn't wait here.
    @discardableResult
    package mutating func remove(_ element: Element) -> Bool {
        guard let (_, place) = elements.removeValue(forKey: ObjectIdentifier(element)) else { return false }
        counts[Int(place.priority.rawValue)] -= 1
        dropLeftPlaces()
        return true
    }

    /// Removes and returns the object whose turn is next.
    package mutating func popFirst() -> Element? {
        guard let element = first?.element else { return nil }
        remove(element)
        return element
    }

    /// Removes and returns all objects, in their order.
    package mutating func removeAll() -> [Element] {
        var all: [Element] = []
        while let element = popFirst() { all.append(element) }
        return all
    }

    private mutating func occupy(_ place: PriorityPlace, _ element: Element) {
        elements[place.element] = (element, place)
        places.insert(place)
        counts[Int(place.priority.rawValue)] += 1
    }

    /// Drops unused places that come first, or all of them once they are most of the heap.
    private mutating func dropLeftPlaces() {
        if places.count > 2 * elements.count + 64 { places = PlaceHeap(elements.values.map(\.place)) }
        while let place = places.max, elements[place.element]?.place != place { places.removeMax() }
    }
}

/// Unchecked, and safe: all that it keeps, but for numbers, are elements.
extension PriorityLine: @unchecked Sendable where Element: Sendable {}

/// Where an object stands in a ``PriorityLine``. The greatest place is served first.
package struct PriorityPlace: Comparable, Sendable {
    package let priority: LoadPriority
    fileprivate let number: UInt64
    fileprivate let element: ObjectIdentifier

    package static func < (lhs: PriorityPlace, rhs: PriorityPlace) -> Bool {
        (lhs.priority, rhs.number) < (rhs.priority, lhs.number)
    }
}
