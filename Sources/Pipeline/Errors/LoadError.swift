public import Essentials

/// Why a load failed: what happened, to which image, at which stage, and what to do.
public struct LoadError: Error, Sendable {
    /// The kind of failure, for programs.
    public let code: Code
    /// The image, as it may be shown: without credentials and query values.
    public package(set) var subject: String
    /// What happened and what to do, for people.
    public let message: String
    /// The stage at which it happened; `nil` outside a pipeline.
    public package(set) var stage: String?
    /// The status of the origin's response (RFC 9110 section 15), where there was one.
    public let httpStatus: Int?
    /// How long the origin asks to wait before the next attempt (`Retry-After`, RFC 9110 section 10.2.3); `nil` where
    /// it says nothing.
    public let retryAfter: Duration?
    /// Whether another attempt would fail in the same way, as with a certificate that can't be trusted: nothing repeats
    /// the request then. `false` says nothing.
    public let isPermanent: Bool
    /// The error underneath, where there is one.
    public let underlying: (any Error)?
    /// What happened before, stage by stage.
    public package(set) var trace: Trace

    /// Makes an error; the pipeline adds the stage and the trace. Invisible marks in its texts, such as the escape
    /// sequences of terminals, are percent-encoded: they may come from a file or a server.
    public init(
        _ code: Code, subject: String, _ message: String, httpStatus: Int? = nil, retryAfter: Duration? = nil,
        isPermanent: Bool = false, underlying: (any Error)? = nil
    ) {
        self.code = code
        self.subject = printable(subject)
        self.message = printableLines(message)
        self.httpStatus = httpStatus
        self.retryAfter = retryAfter
        self.isPermanent = isPermanent
        self.underlying = underlying
        self.trace = Trace()
    }
}

extension LoadError: Equatable {
    /// Whether two errors say the same. The trace and the error underneath, which need not be comparable, don't count.
    public static func == (lhs: LoadError, rhs: LoadError) -> Bool {
        lhs.code == rhs.code && lhs.subject == rhs.subject && lhs.message == rhs.message && lhs.stage == rhs.stage
            && lhs.httpStatus == rhs.httpStatus && lhs.retryAfter == rhs.retryAfter
    }
}

extension LoadError {
    /// Returns the error with a subject, unless it has one. Decoders and encoders don't know whose bytes they have.
    package func about(_ subject: String) -> LoadError {
        var error = self
        if error.subject.isEmpty { error.subject = printable(subject) }
        return error
    }
}

extension LoadError {
    /// Stage, image and a message, which may be in other words, in one line.
    package func described(_ message: String, namesStage: Bool = true) -> String {
        let stage = namesStage ? stage.map { "\($0): " } : nil
        return (stage ?? "") + (subject.isEmpty ? "" : "\(subject): ") + message
    }
}

extension LoadError: CustomStringConvertible {
    /// Stage, image and message in one line.
    public var description: String {
        described(message)
    }
}

extension LoadError: LocalizedError {
    /// The ``description``, so that Foundation's `localizedDescription` says the same.
    public var errorDescription: String? { description }
}
