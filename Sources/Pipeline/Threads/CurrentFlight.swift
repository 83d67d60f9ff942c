/// The flight in whose work the running task is, if any: loads that begin there are part of it.
package enum CurrentFlight {
    /// The number of the outermost flight; `nil` outside of any. A flight that begins inside another is part of it and waits
    /// for no place.
    @TaskLocal package static var root: UInt64?

    /// Runs code that isn't ours, such as an observer. Loads that it begins aren't part of the load at hand: they have a
    /// priority and a place of their own.
    package static func callOut(_ body: () -> Void) {
        HeldLocks.requireNone()
        guard root != nil || AdjustablePriority.inherited != nil else { return body() }
        $root.withValue(nil) { AdjustablePriority.$inherited.withValue(nil) { body() } }
    }
}
