/// The flight that the running task belongs to, if any. Loads that start there are part of it.
package enum CurrentFlight {
    /// The number of the outermost flight; `nil` outside of any. A flight that starts inside another is part of it and
    /// needs no slot.
    @TaskLocal package static var outermost: UInt64?

    /// Runs code that isn't ours, such as an observer. Loads that it starts aren't part of the current load: they have
    /// their own priority and slot.
    package static func callOut(_ body: () -> Void) {
        HeldLocks.requireNone()
        guard outermost != nil || AdjustablePriority.inherited != nil else { return body() }
        $outermost.withValue(nil) { AdjustablePriority.$inherited.withValue(nil) { body() } }
    }
}
