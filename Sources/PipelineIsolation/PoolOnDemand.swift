import Logging
import Pipeline
package import PipelineImages

/// A pool that the first decode starts, or the first file that is on its way: most programs decode nothing for a while, and
/// some nothing at all.
package final class PoolOnDemand: Sendable {
    private enum Progress {
        case none, starting
        case running(DecoderPool)
        /// It couldn't be started, at an uptime in nanoseconds.
        case failed(LoadError, at: Int64)
    }

    /// The time after which it is tried again: the system may have lacked processes for a moment only.
    static let retryPause = Duration.seconds(10)

    private struct State {
        var progress = Progress.none
        var limits: ImageLimits
        var policy: ConfinementPolicy
        var hasWarned = false
    }

    private let state: Monitor<State>
    private let helper: String?
    private let label: String
    private let clock: any LoadClock

    /// - Parameters:
    ///   - limits: What one worker may take.
    ///   - isRequired: Whether it starts only with full confinement.
    ///   - helper: The path of the helper program; by default as `DecoderPool` finds it.
    ///   - clock: The clock of retries.
    ///   - label: The logger's label. It logs once what is missing of the confinement, or that there is none.
    package init(
        limits: ImageLimits = ImageLimits(), isRequired: Bool = false, helper: String? = nil,
        clock: any LoadClock = SystemClock(), label: String = "pipeline.decoders"
    ) {
        state = Monitor(State(limits: limits, policy: isRequired ? .required : .bestEffort))
        self.clock = clock
        self.helper = helper
        self.label = label
    }

    /// Changes the limits or requires full confinement, before the pool has started.
    package func configure(limits: ImageLimits? = nil, isRequired: Bool? = nil) {
        state.withLock { state in
            if let limits { state.limits = limits }
            if let isRequired { state.policy = isRequired ? .required : .bestEffort }
        }
    }

    /// Starts the pool on a thread of its own, unless it has been. Doesn't block.
    package func begin() {
        let isFirst = state.withLock { state in if case .none = state.progress { true } else { false } }
        guard isFirst else { return }
        Task.detached { _ = try? await BlockingThreads.files.run { _ in try self.pool() } }
    }

    /// The pool if it has started, or why it hasn't; `nil` before.
    fileprivate var outcome: Result<DecoderPool, LoadError>? {
        state.withLock { state in
            switch state.progress {
            case .none, .starting: nil
            case .running(let pool): .success(pool)
            case .failed(let error, _): .failure(error)
            }
        }
    }

    /// What a caller does.
    private enum Step {
        case take(Result<DecoderPool, LoadError>)
        case start(ImageLimits, ConfinementPolicy)
    }

    /// Returns the pool, and starts it if it hasn't been. Blocks meanwhile.
    /// - Throws: `LoadError` with `refused` if it can't be started, which is tried again every ten seconds.
    package func pool() throws(LoadError) -> DecoderPool {
        let now = clock.uptimeNanoseconds
        let step = state.wait(
            for: { state -> Step? in
                switch state.progress {
                case .starting: return nil
                case .running(let pool): return .take(.success(pool))
                case .failed(let error, let time) where .nanoseconds(now - time) < Self.retryPause:
                    return .take(.failure(error))
                case .none, .failed:
                    state.progress = .starting
                    return .start(state.limits, state.policy)
                }
            }, whileIdle: { _, _ in })
        switch step {
        case .take(let outcome): return try outcome.get()
        case .start(let limits, let policy):
            do {
                let pool = try DecoderPool(
                    blockingWith: limits, confinement: policy, helper: helper, logger: Logger(label: label))
                state.withLock(wake: .all) { $0.progress = .running(pool) }
                return pool
            } catch {
                let failure =
                    error as? LoadError ?? LoadError(.refused, subject: "", "The decoders can't be started: \(error).")
                let now = clock.uptimeNanoseconds
                state.withLock(wake: .all) { $0.progress = .failed(failure, at: now) }
                throw failure
            }
        }
    }

    /// Warns once that images are decoded in this process.
    fileprivate func warn(of error: LoadError) {
        let isFirst = state.withLock { state in
            defer { state.hasWarned = true }
            return !state.hasWarned
        }
        if isFirst { Logger(label: label).warning("Images are decoded in this process. \(error.message)") }
    }
}

extension ImageCodec {
    /// Returns the same codec with its decoder in the processes of a pool that starts when it is needed.
    /// - Parameter mayStay: Whether it decodes in this process where the pool can't be started. A codec that needs isolation
    ///   never does.
    package func confined(by pool: PoolOnDemand, mayStay: Bool) -> ImageCodec {
        decoding(by: DecoderOnDemand(codec: self, demand: pool, mayStay: mayStay && !needsIsolation))
    }
}

/// A decoder that starts its pool when it is first needed.
private struct DecoderOnDemand: RemoteDecoding {
    let codec: ImageCodec
    let demand: PoolOnDemand
    let mayStay: Bool

    var canBeStopped: Bool { !mayStay || codec.decoder.canBeStopped }
    var showsBeginnings: Bool { codec.decoder.showsBeginnings }

    func begin() { demand.begin() }

    func wake() { try? demand.outcome?.get().wakeWorker() }

    var isFullyConfined: Bool? {
        demand.outcome.map { outcome in (try? outcome.get().confinement.isSuperset(of: .required)) ?? false }
    }

    private func decoder() throws -> any ImageDecoding {
        do {
            let pool = try demand.pool()
            if codec.needsIsolation, !pool.confinement.isSuperset(of: .required) {
                throw LoadError(
                    .refused, subject: "",
                    "\(codec.format) files are only decoded in confined processes, and on this system "
                        + "\(Confinement.required.subtracting(pool.confinement)) is missing. See pipectl doctor.")
            }
            return try pool.decoder(for: codec)
        } catch let error as LoadError where mayStay {
            demand.warn(of: error)
            return codec.decoder
        }
    }

    func header(of bytes: [UInt8], cancellation: WorkCancellation) throws -> ImageHeader {
        try decoder().header(of: bytes, cancellation: cancellation)
    }

    func decode(
        _ bytes: [UInt8], header: ImageHeader, box: PixelSize?, options: DecodeOptions, cancellation: WorkCancellation
    ) throws -> DecodedImage {
        try decoder().decode(bytes, header: header, box: box, options: options, cancellation: cancellation)
    }

    func metadata(of bytes: [UInt8], cancellation: WorkCancellation) throws -> EmbeddedMetadata {
        try decoder().metadata(of: bytes, cancellation: cancellation)
    }

    func description(of bytes: [UInt8], cancellation: WorkCancellation) throws -> ImageMetadata {
        try ImageMetadata.reading(bytes, by: decoder(), cancellation)
    }

    func blocks(
        _ kept: KeptMetadata, of bytes: [UInt8], for size: PixelSize, isGray: Bool, cancellation: WorkCancellation
    ) throws -> EmbeddedMetadata {
        try kept.blocks(of: bytes, by: decoder(), for: size, isGray: isGray, cancellation)
    }

    func stripped(
        _ bytes: [UInt8], of metadata: StrippedMetadata, cancellation: WorkCancellation
    ) throws -> [UInt8] {
        try metadata.stripped(bytes, codec.format, by: decoder(), cancellation)
    }
}
