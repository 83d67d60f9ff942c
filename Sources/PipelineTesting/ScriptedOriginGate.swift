extension ScriptedOrigin {
    /// Holds replies back until a test opens the gate. Once open, it stays open.
    public final class Gate: Sendable {
        let signal: ScriptedOriginSignal

        /// Makes a closed gate.
        /// - Throws: `LoadError` with the code `unreachable` if no pipe is available.
        public init() throws { signal = try ScriptedOriginSignal() }

        /// Releases the replies that wait, now and later.
        public func open() { signal.raise() }
    }
}
