import DequeModule
import Pipeline

/// Which flights may depart now, and the line of those that wait: highest priority first, then in order of arrival.
///
/// Flights of less than normal priority leave a quarter of the places free, so that what a user waits for departs at
/// once.
struct Departures {
    /// What a flight holds while it is under way.
    enum Place { case ordinary, modest }

    private let places: Int
    private let modestPlaces: Int
    private var taken = 0
    private var modest = 0
    /// By priority; a flight that has left the line, or moved to another one, is passed over when its turn comes.
    private var lines: [Deque<UInt64>] = LoadPriority.allCases.map { _ in [] }
    private var waiting: [UInt64: LoadPriority] = [:]

    init(places: Int) {
        self.places = max(1, places)
        modestPlaces = max(1, self.places - self.places / 4)
    }

    /// How many wait.
    var count: Int { waiting.count }

    /// How long the lines are, with those in them that have left.
    var length: Int { lines.reduce(0) { $0 + $1.count } }

    /// A place for a flight of this priority, if one is free.
    mutating func take(_ priority: LoadPriority) -> Place? {
        guard taken < places else { return nil }
        guard priority < .normal else {
            taken += 1
            return .ordinary
        }
        guard modest < modestPlaces else { return nil }
        taken += 1
        modest += 1
        return .modest
    }

    mutating func giveBack(_ place: Place) {
        taken -= 1
        if place == .modest { modest -= 1 }
    }

    mutating func wait(_ flight: UInt64, _ priority: LoadPriority) {
        waiting[flight] = priority
        lines[Int(priority.rawValue)].append(flight)
        tidy()
    }

    /// A flight that waits takes its turn with another priority from now on.
    mutating func move(_ flight: UInt64, to priority: LoadPriority) {
        guard let old = waiting[flight], old != priority else { return }
        wait(flight, priority)
    }

    /// Takes a flight out of the line; false if it isn't there.
    @discardableResult
    mutating func remove(_ flight: UInt64) -> Bool { waiting.removeValue(forKey: flight) != nil }

    /// The flight whose turn it is, with its place; `nil` while none may depart.
    mutating func next() -> (flight: UInt64, place: Place)? {
        for priority in LoadPriority.allCases.reversed() {
            let line = Int(priority.rawValue)
            while let flight = lines[line].first, waiting[flight] != priority { lines[line].removeFirst() }
            guard let flight = lines[line].first else { continue }
            guard let place = take(priority) else { return nil }
            lines[line].removeFirst()
            waiting[flight] = nil
            return (flight, place)
        }
        return nil
    }

    /// Drops what would be passed over, once that is most of the lines.
    private mutating func tidy() {
        guard length > 2 * waiting.count + 64 else { return }
        for priority in LoadPriority.allCases {
            lines[Int(priority.rawValue)].removeAll { [waiting] in waiting[$0] != priority }
        }
    }
}
