import Pipeline

/// The slots of flights, and the flights that wait for one.
///
/// Flights of less than normal priority leave a quarter of the slots free, so that loads that a user waits for start at
/// once.
struct FlightSlots {
    enum Slot { case ordinary, modest }

    /// A flight's task waits for this before it begins its work. It gets a slot, or `nil` if it needs none.
    typealias Turn = Waiter<Slot?>

    private let limit: Int
    private let modestLimit: Int
    private var taken = 0
    private var modest = 0
    var line = PriorityLine<Turn>()

    init(limit: Int) {
        self.limit = max(1, limit)
        modestLimit = max(1, self.limit - self.limit / 4)
    }

    /// Removes the flight that may start now from the line and takes a slot for it; `nil` if none may.
    mutating func next() -> (turn: Turn, slot: Slot)? {
        guard taken < limit, let (turn, place) = line.first else { return nil }
        let isModest = place.priority < .normal
        if isModest {
            guard modest < modestLimit else { return nil }
            modest += 1
        }
        line.remove(turn)
        taken += 1
        return (turn, isModest ? .modest : .ordinary)
    }

    mutating func release(_ slot: Slot) {
        taken -= 1
        if slot == .modest { modest -= 1 }
    }
}
