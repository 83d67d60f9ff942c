extension ScriptedOrigin {
    /// What holds replies back until a test lets them go; once open it stays open.
    public final class Gate: Sendable {
        let signal: ScriptedOriginSignal

        /// A closed gate.
        /// - Throws: `LoadError` with the code `unreachable` if the system gives no pipe.
        public init() throws { signal = try ScriptedOriginSignal() }

        /// Lets go whatever waits, now and later.
        public func open() { signal.raise() }
    }
}
