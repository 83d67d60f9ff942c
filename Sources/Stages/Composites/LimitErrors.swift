import PipelineHTTP
import Essentials
public import Pipeline

/// Stops asking an origin for a source that has failed too often recently: throws the last error without a request.
/// Otherwise runs its body.
///
/// Only error statuses from the origin count. An unreachable origin, a timeout or a cancelled load says nothing about
/// the source. A success ends the count.
public struct LimitErrors: CompositeStage, KeyedStage, CredentialStage, ClockedStage {
    public var body: Chain
    private let responses: HTTPCache
    private let limits: ErrorLimits

    package static func specification(_ resources: PipelineResources) -> StageSpecification {
        let (count, wait) = (StageParameter.Kind.integer(1...1_000_000), "How long requests stop after the last one.")
        let (age, standardAge) = (StageParameter.Kind.seconds(0...31_536_000), Duration.seconds(300))
        return StageSpecification(
            composite: "limitErrors", "Repeats an origin's error without a request if it came too often.",
            example: "clientAttempts=2:serverAttempts=3",
            .optional("clientAttempts", count, "How many errors of 400 to 499 in a row stop requests.", example: "2"),
            .optional("clientMaxAge", age, wait, meaning: standardAge, example: "600"),
            .optional("serverAttempts", count, "How many errors of 500 to 599 in a row stop requests.", example: "3"),
            .optional("serverMaxAge", age, wait, meaning: standardAge, example: "600")
        ) { body, clientAttempts, clientMaxAge, serverAttempts, serverMaxAge in
            func limit(_ side: String, _ attempts: Int?, _ maxAge: Duration?) throws -> ErrorLimits.Limit? {
                if let attempts { return ErrorLimits.Limit(attempts: attempts, maxAge: maxAge ?? standardAge) }
                if maxAge != nil { throw StageMistake("limitErrors: \(side)MaxAge needs \(side)Attempts.") }
                return nil
            }
            let given = ErrorLimits(
                clientErrors: try limit("client", clientAttempts, clientMaxAge),
                serverErrors: try limit("server", serverAttempts, serverMaxAge))
            guard let limits = given == ErrorLimits() ? resources.errorLimits : given else {
                throw StageMistake("limitErrors needs clientAttempts, serverAttempts, or both.")
            }
            return LimitErrors(limits, in: resources.responses, body)
        }
    }

    /// Wraps the stages that ask the origin; the errors are counted in `responses`.
    public init(_ limits: ErrorLimits, in responses: HTTPCache, @ChainBuilder _ body: () -> Chain) {
        self.responses = responses
        self.limits = limits
        self.body = body()
    }

    /// Wraps the stages that ask the origin; the errors are counted in `responses`.
    @available(*, deprecated, renamed: "init(_:in:_:)")
    public init(_ responses: HTTPCache, _ limits: ErrorLimits, @ChainBuilder _ body: () -> Chain) {
        self.init(limits, in: responses, body)
    }

    /// The fields of the cache.
    package var credentials: CredentialFields { responses.users.credentials }

    /// The clock of the cache.
    package var cacheClock: (any LoadClock)? { responses.clock }

    public var identity: StageIdentity? { StageIdentity("\(limits)", over: [responses]) }

    /// Runs the body, or throws the last error if the limit is reached.
    /// - Throws: `LoadError` with `httpStatus`, from this request or from an earlier one; the body's other errors.
    public func run(_ load: inout Load) async throws -> Outcome {
        guard load.request.source.isRemote, let key = load.sourceKey else {
            try await body.run(&load)
            return .done
        }
        let failed = try await responses.failures(of: key)
        if let failed { try await check(failed, key, load) }
        do {
            try await body.run(&load)
        } catch let error as LoadError where error.code == .httpStatus {
            if let status = error.httpStatus, limits.limit(for: status) != nil {
                await responses.recordFailure(status: status, of: key)
            }
            throw error
        }
        if failed != nil { await responses.forgetFailures(of: key) }
        return .done
    }

    private func check(_ failed: FailedAttempts, _ key: SourceKey, _ load: Load) async throws {
        guard let limit = limits.limit(for: failed.status), failed.attempts >= limit.attempts else { return }
        let age = load.clock.now.timeIntervalSince(failed.latest)
        // After the clock was set back, an error from the future must not count for ever.
        guard age >= 0, age < limit.maxAge.seconds else { return await responses.forgetFailures(of: key) }
        throw LoadError(
            .httpStatus, subject: load.subject,
            "The origin answered \(failed.status) \(failed.attempts == 1 ? "once" : "\(failed.attempts) times"), "
                + "most recently \(Int(clamping: age)) s ago; "
                + "it is not asked again for \(Int(clamping: (limit.maxAge.seconds - age).rounded(.up))) s.",
            httpStatus: failed.status)
    }
}
