public import Essentials
package import Pipeline

/// The consecutive attempts at a source that failed with an error status.
public struct FailedAttempts: Sendable, Hashable {
    /// The latest error's status (RFC 9110 sections 15.5 and 15.6).
    public let status: Int
    /// How many attempts have failed since the last success.
    public let attempts: Int
    /// When the latest one failed.
    public let latest: Date

    /// Describes failed attempts.
    public init(status: Int, attempts: Int, latest: Date) {
        self.status = status
        self.attempts = attempts
        self.latest = latest
    }
}

extension HTTPCache {
    /// The failed attempts at a source; `nil` if the last one succeeded.
    /// - Throws: `CancellationError` if the task is cancelled; nothing else.
    package func failures(of key: SourceKey) async throws -> FailedAttempts? { try await store.failures(of: key) }

    /// Counts an attempt to which the origin responded with an error. The latest 10,000 sources that failed are
    /// remembered, fewer in a cache of less than 82 MB. Failures without a response, such as time-outs, don't count.
    /// - Returns: the attempts so far, this one included; `nil` if the store failed.
    @discardableResult
    package func recordFailure(status: Int, of key: SourceKey) async -> FailedAttempts? {
        await store.recordFailure(status: status, of: key, at: clock.now)
    }

    /// Resets the attempts at a source.
    package func forgetFailures(of key: SourceKey) async { await store.forgetFailures(of: key) }
}
