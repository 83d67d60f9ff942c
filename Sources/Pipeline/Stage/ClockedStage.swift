/// A stage whose cache calculates ages.
package protocol ClockedStage {
    /// The clock of the stage's cache; `nil` if the stage has no cache.
    var cacheClock: (any LoadClock)? { get }
}

extension Chain {
    /// The clock of the list's caches; `nil` if no stage has one.
    var cacheClock: (any LoadClock)? { cacheClocks.first?.clock }

    /// Why loads by a clock can't go by the caches of this list, with the remedy; `nil` if they can. An age that two
    /// clocks measure is wrong.
    func problem(with clock: any LoadClock) -> String? {
        guard let other = cacheClocks.first(where: { !$0.clock.isSame(as: clock) }) else { return nil }
        return
            "\(other.stage) would calculate wrong ages: its cache goes by another clock than the list. Give the list, each "
            + "HTTPCache and the Fleet the same clock. A list that is given none takes that of its caches."
    }

    /// The clocks of the stages' caches, those in composites' bodies included.
    private var cacheClocks: [(stage: String, clock: any LoadClock)] {
        stages.flatMap { stage -> [(stage: String, clock: any LoadClock)] in
            let own = (stage as? any ClockedStage)?.cacheClock.map { [(stage: stage.name, clock: $0)] } ?? []
            return own + ((stage as? any CompositeStage)?.body.cacheClocks ?? [])
        }
    }
}

extension LoadClock {
    /// Whether another clock is this one. Clocks that are values are the same if their types are.
    fileprivate func isSame(as other: any LoadClock) -> Bool {
        guard type(of: self) is AnyClass else { return type(of: other) == Self.self }
        return self as AnyObject === other as AnyObject
    }
}
