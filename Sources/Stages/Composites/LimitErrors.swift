import PipelineHTTP
import FoundationEssentials
public import Pipeline

/// Runs its body unless the origin has answered a source with an error too often and too recently: then that error is the
/// answer, without a request.
///
/// Only what the origin itself said counts. That it could not be reached, took too long, or that the load was cancelled,
/// says nothing about the source. What answers ends the count.
public struct LimitErrors: CompositeStage, CredentialStage {
    /// What asks the origin.
    public var body: Chain
    private let responses: HTTPCache
    private let limits: ErrorLimits

    /// Wraps the stages that ask the origin; the errors are counted in `responses`.
    public init(_ responses: HTTPCache, _ limits: ErrorLimits, @ChainBuilder _ body: () -> Chain) {
        self.responses = responses
        self.limits = limits
        self.body = body()
    }

    /// Goes by the load's keys.
    public var needsIdentity: Bool { true }

    /// Those of the cache.
    package var credentials: CredentialFields { responses.users.credentials }

    /// Runs the body, or throws the error that is believed.
    /// - Throws: `LoadError` with `httpStatus`, now or as it was; what the body throws.
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
        // A clock that was set back makes no error young for ever.
        guard age >= 0, age < limit.maxAge.seconds else { return await responses.forgetFailures(of: key) }
        throw LoadError(
            .httpStatus, subject: load.subject,
            "The origin answered \(failed.status) \(failed.attempts == 1 ? "once" : "\(failed.attempts) times"), "
                + "\(Int(clamping: age)) s ago at last; it is not asked again for \(Int(clamping: (limit.maxAge.seconds - age).rounded(.up))) s.",
            httpStatus: failed.status)
    }
}
