import CSandbox
public import Logging
public import Pipeline
public import PipelineImages

/// A pool of processes that decode images, confined so that a hostile file can harm nothing but its own result.
///
/// ```swift
/// let pool = try await DecoderPool()
/// let codecs = try ImageCodecs.standard.isolated(in: pool)
/// let decode = Decode(codecs: codecs)
/// ```
///
/// A worker has no files, no network, no other processes, no environment and no descriptor but its channel. It decodes one
/// image at a time, on one thread, and is replaced after 10,000 images, ten minutes, or ten seconds without work; the
/// initializer changes that. A load that is cancelled or out of time kills its worker, so its slot is free at once, even in
/// the middle of a library's call.
///
/// If a worker dies, the image is tried once more, in a new worker. If that one dies too, the load fails with `undecodable`,
/// and the same file is refused for ten minutes.
///
/// The pool lives as long as a codec uses it. ``close()`` ends it before.
public final class DecoderPool: Sendable {
    /// What confines each worker.
    public let confinement: Confinement
    /// The most workers at a time. They are started when they are first needed.
    public let workers: Int

    /// The formats that the helper decodes.
    let formats: [ImageFormat]
    /// What it has to open for some of them.
    let needs: Preparation

    struct State {
        var helper: DecoderHelper?
        var isStarting = false
        var idle: [WorkerProcess] = []
        var count = 0
        var isClosed = false
        var isWatched = false
        var crashes = Crashes()
        var statistics = Statistics()
        var refused = RefusedFiles()
        /// What has been needed so far, which new workers have.
        var preparation: Preparation = []
    }

    let state: Monitor<State>
    let start: Start

    /// How the pool and its workers are started.
    package struct Start: Sendable {
        var workers: Int?
        var limits = ImageLimits()
        var policy = ConfinementPolicy.required
        /// Measures to leave out, as on a system that lacks them.
        var missing: Confinement = []
        var helper: String?
        var imagesPerWorker = 10_000
        var separatesPartitions = false
        var age = Duration.seconds(600)
        var givesWay = false
        var clock: any LoadClock = SystemClock()
        var logger = Logger(label: "pipeline.decoders")

        /// Starts the helper and a worker. Blocks for some milliseconds, and longer if there is something to prepare.
        func processes(
            _ preparation: Preparation = []
        ) throws -> (path: String?, helper: DecoderHelper, worker: WorkerProcess) {
            guard csandbox_is_available() else {
                throw LoadError(
                    .refused, subject: "",
                    "Images can be decoded in confined processes on Linux with glibc only. Decode them without a pool if you "
                        + "trust them."
                )
            }
            let path = try DecoderHelper.find(helper)
            let helper = try DecoderHelper(path: path)
            do {
                return (path, helper, try worker(of: helper, preparation))
            } catch {
                throw error.refusal
            }
        }

        func worker(
            of helper: DecoderHelper, _ preparation: Preparation
        ) throws(SystemError) -> WorkerProcess {
            try WorkerProcess(of: helper, plan(preparation), sizes, clock: clock)
        }

        var sizes: WorkerProcess.Sizes {
            let room = 1 << 20
            return WorkerProcess.Sizes(
                input: max(1, limits.encodedBytes),
                output: max(limits.pixels.saturatingTimes(4), limits.encodedBytes).saturatingPlus(room))
        }

        private func plan(_ preparation: Preparation) -> csandbox_plan {
            // Decoding a long animation may take twenty times the limit of one picture.
            let seconds = (age + (limits.time ?? .seconds(3600)) * 20) / .seconds(1)
            // What the libraries themselves allocate.
            let base = 256 << 20
            return csandbox_plan(
                without: missing.rawValue, memory: UInt64(limits.memory.saturatingPlus(base)),
                seconds: UInt64(min(1e6, max(1, seconds))), gives_way: givesWay,
                preparation: preparation.rawValue)
        }
    }

    /// What the pool has done so far.
    public struct Statistics: Sendable, Hashable {
        /// Finished requests. An image takes two: its header and its pixels.
        public internal(set) var requests = 0
        /// Workers started.
        public internal(set) var started = 0
        /// Workers that died, or were killed for breaking the protocol.
        public internal(set) var deaths = 0
        /// Workers killed since their load was cancelled or out of time, or since they computed without work.
        public internal(set) var kills = 0
        /// Times that the helper was started again after deaths, so that workers get another layout of memory.
        public internal(set) var restarts = 0
        /// System calls refused by the filter.
        public internal(set) var refusedCalls = 0
        /// The number of the last of these on this architecture; 0 if there was none.
        public internal(set) var lastRefusedCall = 0
    }

    /// Starts the helper and a first worker.
    /// - Parameters:
    ///   - workers: The most workers at a time; by default one for each core.
    ///   - limits: What one worker may take: `ImageLimits.encodedBytes` is the largest file, `ImageLimits.pixels` with 4
    ///     bytes each the largest result, and `ImageLimits.memory` what a worker may allocate. By default the limits of
    ///     `Decode`; they should be no lower than those of the lists that use the pool.
    ///   - confinement: Whether it may start on a system that can't confine it fully; by default
    ///     ``ConfinementPolicy/required``.
    ///   - helper: The path of the helper program; by default the environment's `PIPELINE_DECODER`, else `pipeline-decoder`
    ///     next to this program or in `../libexec`, else this program itself, which then decodes its own copy's formats:
    ///     ``DecoderWorker/codecs``.
    ///   - imagesPerWorker: The number of images after which a worker is replaced; 10,000 by default. With 1 each image has
    ///     a worker of its own, which no other image's bytes have been in.
    ///   - separatesPartitions: Whether a worker decodes images of one `ImageRequest.partition` only, so that none meets a
    ///     process that has seen another's; `false` by default. A worker of another partition is replaced, which takes some
    ///     milliseconds. Images without a load are of no partition.
    ///   - age: The time after which a worker is replaced; 10 minutes by default.
    ///   - givesWay: Whether workers give way to other processes, as `BlockingThreads.giveWay()` lets threads do, for
    ///     servers; `false` by default.
    ///   - clock: The clock of ages and refusals; by default the system's.
    ///   - logger: Logs once what is missing of the confinement.
    /// - Throws: `LoadError` with `refused` if the helper is missing or doesn't start, or if the confinement is required and
    ///   something of ``Confinement/required`` isn't in force. Elsewhere than on Linux with glibc, always.
    public convenience init(
        workers: Int? = nil, limits: ImageLimits = ImageLimits(), confinement: ConfinementPolicy = .required,
        helper: String? = nil, imagesPerWorker: Int = 10_000, separatesPartitions: Bool = false,
        age: Duration = .seconds(600), givesWay: Bool = false,
        clock: any LoadClock = SystemClock(), logger: Logger = Logger(label: "pipeline.decoders")
    ) async throws {
        let start = Start(
            workers: workers, limits: limits, policy: confinement, helper: helper, imagesPerWorker: imagesPerWorker,
            separatesPartitions: separatesPartitions, age: age, givesWay: givesWay, clock: clock, logger: logger)
        try self.init(start, try await BlockingThreads.files.run { _ in try start.processes() })
    }

    /// Starts a pool without some measures, as on a system that lacks them.
    package convenience init(
        workers: Int? = nil, confinement: ConfinementPolicy = .required, without missing: Confinement, helper: String,
        logger: Logger = Logger(label: "pipeline.decoders")
    ) async throws {
        let start = Start(
            workers: workers, policy: confinement, missing: missing, helper: helper, logger: logger)
        try self.init(start, try await BlockingThreads.files.run { _ in try start.processes() })
    }

    /// Starts a pool on a thread that may block.
    package convenience init(
        blockingWith limits: ImageLimits, confinement: ConfinementPolicy, helper: String?, logger: Logger
    ) throws {
        let start = Start(limits: limits, policy: confinement, helper: helper, logger: logger)
        try self.init(start, start.processes())
    }

    private init(
        _ start: Start, _ processes: (path: String?, helper: DecoderHelper, worker: WorkerProcess)
    ) throws(LoadError) {
        var start = start
        // The same program is started again if it ends.
        if let path = processes.path { start.helper = path }
        self.start = start
        workers = max(1, start.workers ?? BlockingThreads.decoding.count)
        (formats, needs) = (processes.helper.formats, processes.helper.needs)
        confinement = processes.worker.confinement
        var state = State(helper: processes.helper, idle: [processes.worker], count: 1)
        state.statistics.started = 1
        self.state = Monitor(state)
        watchIdle()
        let lacking = Confinement.required.subtracting(confinement)
        guard !lacking.isEmpty else { return }
        switch start.policy {
        case .required:
            throw LoadError(
                .refused, subject: "",
                "This system can't confine the processes that decode: \(lacking) is missing. Use a newer kernel or another "
                    + "container profile, or accept less with .bestEffort.")
        case .bestEffort:
            start.logger.warning("Images are decoded with less confinement: \(lacking) is missing.")
        }
    }

    /// What the pool has done so far.
    public var statistics: Statistics { state.withLock { $0.statistics } }

    /// The number of workers now.
    package var count: Int { state.withLock { $0.count } }

    /// The helper's process; `nil` once the pool is closed.
    package var helperProcess: Int32? { state.withLock { $0.helper?.process } }

    /// The number of workers without work.
    var idleCount: Int { state.withLock { $0.idle.count } }

    /// Ends all workers and the helper, once the images under way are done. Later loads fail with `refused`.
    public func close() async {
        let ended = state.withLock(wake: .all) { state in
            state.isClosed = true
            defer { state.idle = [] }
            return state.idle
        }
        _ = try? await BlockingThreads.files.run { [state] _ in
            for worker in ended {
                worker.end()
                worker.giveBack()
            }
            state.withLock { $0.count -= ended.count }
            state.wait(for: { $0.count <= 0 && !$0.isStarting ? () : nil }, whileIdle: { _, _ in })
            let helper = state.withLock { state in
                defer { state.helper = nil }
                return state.helper
            }
            // Somebody may still be about to release a worker, which has the helper too.
            helper?.end()
        }
    }
}
