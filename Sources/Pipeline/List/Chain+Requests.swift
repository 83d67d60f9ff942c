/// A stage that reports the beginning of its request itself, with `sendingRequest`, and its progress. The engine
/// reports the end.
package protocol RequestingStage: Stage {
    /// Which URLs its client may ask; `nil` if any.
    var urlRule: URLRule? { get }
}

/// An attachment that holds an image which is stale for this load.
package protocol CachedImage: LoadAttachment {}

/// How the engine knows whether a stage has sent a request.
enum Asking {
    /// It never does.
    case never
    /// By the content that it leaves or the error that it throws: a lookup or a guard looks the same from outside.
    case byResult
    /// Also by its waiting: all that it does is fetch, so it fetches unless it returns at once.
    case byWaiting
    /// It reports that itself.
    case byReport

    init(_ stage: any Stage) {
        // Composites make lists while a load runs: sets are made only for a stage that may fetch.
        guard stage.accepts.contains(Phase.empty), !(stage is any CompositeStage) else {
            self = .never
            return
        }
        guard !(stage is any RequestingStage) else {
            self = .byReport
            return
        }
        let leaves = stage.leaves
        if leaves.isDisjoint(with: [.fetched, .confirmed]) {
            self = .never
        } else {
            self = leaves.isSubset(of: [.fetched, .confirmed]) ? .byWaiting : .byResult
        }
    }
}

extension Chain.Slot {
    /// Begins to report the request of a stage that may send one; `nil` if nobody watches or the content is there.
    @inline(never)
    func report(_ load: inout Load) -> RequestReport? {
        guard let events = load.events, load.phase == .empty else { return nil }
        let report = RequestReport(events, hadCachedImage: load.hasCachedImage)
        load.events = { report.take($0) }
        return report
    }

    /// Runs the stage, and reports its request, if it sends one.
    func run(_ load: inout Load, _ report: RequestReport) async throws -> Outcome {
        guard asking == .byWaiting else { return try await stage.run(&load) }
        let start = load
        let end = Lock<(load: Load, result: Result<Outcome, any Error>)?>(nil)
        await withTaskGroup(of: Void.self) { [stage] group in
            // Returns here as soon as the stage waits for something, which a stage that skips the load doesn't do.
            group.addImmediateTask {
                var load = start
                let result: Result<Outcome, any Error>
                do { result = .success(try await stage.run(&load)) } catch { result = .failure(error) }
                end.withLock { [load] in $0 = (load, result) }
            }
            if end.withLock({ $0 == nil }) { report.begin() }
        }
        guard let (after, result) = end.withLock({ $0 }) else { throw CancellationError() }
        load = after
        return try result.get()
    }
}

extension RequestReport {
    /// Reports the end of the request of a stage that has returned, if it has sent one.
    @inline(never)
    func end(_ load: inout Load) {
        load.events = sink
        let isFromOrigin = load.phase != .empty && (load.source == .network || load.source == .revalidated)
        guard isFromOrigin || hasBegun else { return }
        load.isRequestOpen = load.phase == .redirected
        // It continues with the request for the next hop.
        guard !load.isRequestOpen else { return begin() }
        var bytes: Int?
        if case .original(let image) = load.content, load.source == .network { bytes = image.bytes.count }
        end(from: load.source, bytes: bytes)
    }

    /// Reports the end of the request of a stage that has thrown, if it has sent one.
    @inline(never)
    func end(_ load: inout Load, _ error: any Error) {
        load.events = sink
        guard let error = error as? LoadError, hasBegun || error.isOrigins else { return }
        load.isRequestOpen = false
        end(with: error)
    }
}

extension LoadError {
    /// Whether the origin was asked in vain.
    fileprivate var isOrigins: Bool { [.httpStatus, .unreachable, .timedOut].contains(code) }
}

extension Load {
    /// Whether a cache has an image that is stale for this load.
    package var hasCachedImage: Bool { response.kind == .stale || hasAttachment { $0 is any CachedImage } }
}
