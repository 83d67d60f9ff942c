/// How many errors in a row an origin may send for a source before it isn't asked again for a while.
public struct ErrorLimits: Sendable, Hashable {
    /// The limit for a class of statuses.
    public struct Limit: Sendable, Hashable {
        /// How many attempts in a row may fail.
        var attempts: Int
        /// How long the origin isn't asked after the last failure. Then the count starts over.
        var maxAge: Duration

        /// Sets a limit: at least one attempt.
        public init(attempts: Int, maxAge: Duration) {
            self.attempts = max(1, attempts)
            self.maxAge = maxAge
        }
    }

    /// For 400 to 499 (RFC 9110 section 15.5); `nil` for no limit.
    var clientErrors: Limit?
    /// For 500 to 599 (RFC 9110 section 15.6); `nil` for no limit.
    var serverErrors: Limit?

    /// Sets the limits. A class that is left out has none.
    public init(clientErrors: Limit? = nil, serverErrors: Limit? = nil) {
        self.clientErrors = clientErrors
        self.serverErrors = serverErrors
    }

    /// The limit for a status.
    func limit(for status: Int) -> Limit? {
        switch status {
        case 400...499: clientErrors
        case 500...599: serverErrors
        default: nil
        }
    }
}
