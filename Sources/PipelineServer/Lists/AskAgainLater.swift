import Essentials
import Pipeline

/// Runs its body, a fetch, unless the origin has failed with the same source a few seconds ago: a page with a dead link
/// doesn't ask the origin for each size and each visitor. Stored responses and results are found before it.
struct AskAgainLater: CompositeStage {
    var body: Chain
    private let failures: RecentFailures

    init(_ failures: RecentFailures, @ChainBuilder _ body: () -> Chain) {
        self.failures = failures
        self.body = body()
    }

    func run(_ load: inout Load) async throws -> Outcome {
        try failures.check(load.request.source)
        try await body.run(&load)
        return .done
    }
}

/// The sources that their origins didn't give lately.
final class RecentFailures: Sendable {
    private struct Failure {
        let error: LoadError
        let end: Duration
    }

    private let lifetime: Duration
    private let clock: any LoadClock
    private let failures = Lock(RecentValues<String, Failure>())

    /// - Parameters:
    ///   - lifetime: How long a failure counts; zero for not at all.
    ///   - clock: By which it is measured.
    init(for lifetime: Duration, clock: any LoadClock) { (self.lifetime, self.clock) = (lifetime, clock) }

    /// - Throws: The failure of a source that still counts.
    fileprivate func check(_ source: ImageSource) throws(LoadError) {
        guard lifetime > .zero, case .url(let url) = source else { return }
        let failure = failures.withLock { $0[url.absoluteString] }
        if let failure, clock.uptime < failure.end { throw failure.error }
    }

    /// Remembers the failure of a load if it is the origin's.
    func add(_ error: LoadError, for source: ImageSource) {
        guard lifetime > .zero, case .url(let url) = source else { return }
        switch error.code {
        case .httpStatus, .unreachable, .timedOut, .malformedResponse, .unsupportedType:
            let (now, name) = (clock.uptime, url.absoluteString)
            failures.withLock { failures in
                // One that was remembered doesn't count longer because it is asked for.
                if let known = failures[name], now < known.end { return }
                failures.keep(Failure(error: error, end: now + lifetime), name)
            }
        default: break
        }
    }
}
