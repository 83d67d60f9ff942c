/// Elements that leave in the order in which they came. Each costs the same on average, however many wait.
///
/// The deque of swift-collections does the same and more, but takes a tenth of the build of a program that uses this
/// package; see `Documentation/Decisions.md`.
@usableFromInline
package struct Queue<Element>: ExpressibleByArrayLiteral {
    /// The older ones, the oldest last.
    @usableFromInline var leaving: [Element] = []
    /// The newer ones, in their order.
    @usableFromInline var coming: [Element] = []

    /// Makes a queue of elements, the oldest first.
    @inlinable
    package init(arrayLiteral elements: Element...) { coming = elements }

    /// Adds an element behind all others.
    @inlinable
    package mutating func append(_ element: Element) { coming.append(element) }

    /// Adds elements behind all others, in their order.
    @inlinable
    package mutating func append(contentsOf elements: some Sequence<Element>) { coming.append(contentsOf: elements) }

    /// Removes the oldest element; `nil` if there is none.
    @inlinable
    package mutating func popFirst() -> Element? {
        if leaving.isEmpty {
            leaving = coming.reversed()
            coming = []
        }
        return leaving.popLast()
    }

    /// Removes the elements that match.
    @inlinable
    package mutating func removeAll(where isMeant: (Element) throws -> Bool) rethrows {
        try leaving.removeAll(where: isMeant)
        try coming.removeAll(where: isMeant)
    }
}

extension Queue: RandomAccessCollection, MutableCollection {
    /// The place of the oldest element: 0.
    @inlinable
    package var startIndex: Int { 0 }

    /// The number of elements.
    @inlinable
    package var endIndex: Int { leaving.count + coming.count }

    /// The element at a place, counted from the oldest.
    @inlinable
    package subscript(place: Int) -> Element {
        get { place < leaving.count ? leaving[leaving.count - 1 - place] : coming[place - leaving.count] }
        set {
            if place < leaving.count {
                leaving[leaving.count - 1 - place] = newValue
            } else {
                coming[place - leaving.count] = newValue
            }
        }
    }
}

extension Queue: Sendable where Element: Sendable {}
