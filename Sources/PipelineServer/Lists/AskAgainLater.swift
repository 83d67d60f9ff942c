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

/// Runs its body, and remembers its failure for ``AskAgainLater`` where a fallback hides it from the caller.
struct RememberFailure: CompositeStage {
    var body: Chain
    private let failures: RecentFailures

    init(_ failures: RecentFailures, @ChainBuilder _ body: () -> Chain) {
        self.failures = failures
        self.body = body()
    }

    func run(_ load: inout Load) async throws -> Outcome {
        let source = load.request.source
        do {
            try await body.run(&load)
        } catch let error as LoadError {
            failures.add(error, for: source)
            throw error
        }
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
    private let lifetimes: [SourceLifetime]
    private let clock: any LoadClock
    private let failures = Lock(RecentValues<String, Failure>())

    /// - Parameters:
    ///   - lifetime: How long a failure counts; zero for not at all.
    ///   - lifetimes: The rules of sources that have their own.
    ///   - clock: By which it is measured.
    init(for lifetime: Duration, _ lifetimes: [SourceLifetime] = [], clock: any LoadClock) {
        (self.lifetime, self.lifetimes, self.clock) = (lifetime, lifetimes, clock)
    }

    private func lifetime(of url: URL) -> Duration { lifetimes.rule(for: url)?.errorMaxAge ?? lifetime }

    /// Forgets the failure of a source, so that the next load asks for it.
    func forget(_ source: ImageSource) {
        if case .url(let url) = source { failures.withLock { $0.remove(url.absoluteString) } }
    }

    /// - Throws: The failure of a source that still counts.
    fileprivate func check(_ source: ImageSource) throws(LoadError) {
        guard case .url(let url) = source else { return }
        let failure = failures.withLock { $0[url.absoluteString] }
        if let failure, clock.uptime < failure.end { throw failure.error }
    }

    /// Remembers the failure of a load if it is the origin's.
    func add(_ error: LoadError, for source: ImageSource) {
        guard case .url(let url) = source else { return }
        let lifetime = lifetime(of: url)
        guard lifetime > .zero else { return }
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
