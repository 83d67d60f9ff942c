/// The places of a ``PriorityLine``, as a binary heap: the parent of the place at `i` is at `(i - 1) / 2`, and no place is
/// less than one below it.
///
/// swift-collections' heap does the same and more, but is a package that each program with this one fetches and builds;
/// see `Documentation/Decisions.md`.
struct PlaceHeap {
    private var places: [PriorityPlace] = []

    /// Makes a heap of places in any order.
    init(_ places: some Sequence<PriorityPlace> = EmptyCollection()) {
        // An array that falls is a heap.
        self.places = places.sorted(by: >)
    }

    /// The number of places.
    var count: Int { places.count }

    /// The greatest place; `nil` if there is none.
    var max: PriorityPlace? { places.first }

    /// Adds a place. Takes logarithmic time.
    mutating func insert(_ place: PriorityPlace) {
        var index = places.count
        places.append(place)
        while index > 0, places[(index - 1) / 2] < place {
            places.swapAt(index, (index - 1) / 2)
            index = (index - 1) / 2
        }
    }

    /// Removes the greatest place, if there is one. Takes logarithmic time.
    mutating func removeMax() {
        guard let last = places.popLast(), !places.isEmpty else { return }
        places[0] = last
        var index = 0
        while 2 * index + 1 < places.count {
            var child = 2 * index + 1
            if child + 1 < places.count, places[child] < places[child + 1] { child += 1 }
            guard places[index] < places[child] else { return }
            places.swapAt(index, child)
            index = child
        }
    }
}
