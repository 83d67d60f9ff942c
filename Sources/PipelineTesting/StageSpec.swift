import Essentials
public import Pipeline

/// Checks that a stage of your own keeps to the contract of stages.
///
/// ```swift
/// @Test("The stage keeps to the contract of stages")
/// func contract() async throws { try await StageSpec(RefuseHost(host: "tracker.example")).check() }
/// ```
///
/// It runs the stage in each phase that the stage accepts, with a load in that phase. The stage must leave the load in
/// a phase that it `Stage.produces` and with a response that it `Stage.leaves`, move it only forward, have a
/// `Stage.signature` if it changes pixels, and end soon when its task is cancelled: before it begins, and while it
/// waits or blocks its thread. Throwing an error is allowed. Waiting by the load's clock takes no time here. A stage
/// that never ends keeps its thread until the program ends.
public struct StageSpec: Sendable {
    /// The violations of a stage.
    public struct Failure: Error, Sendable, CustomStringConvertible {
        /// Each violation, in a sentence.
        let breaches: [String]

        /// All violations, a line each.
        public var description: String { breaches.joined(separator: "\n") }
    }

    private let stage: any Stage
    private let request: ImageRequest
    private let original: EncodedImage
    private let image: DecodedImage
    private let patience: Duration

    /// Makes the check of a stage.
    /// - Parameters:
    ///   - stage: The stage.
    ///   - request: The request of the loads; by default an image at `http://127.0.0.1:1/picture.png`, where no server
    ///     listens.
    ///   - original: The bytes that loads in the phase `original` or `encoded` carry; by default a small PNG.
    ///   - image: The pixels that loads in the phase `decoded` or `ready` carry; by default 8×6 of one colour.
    ///   - patience: How long a cancelled stage may go on before that counts as a violation; by default a second, since
    ///     machines that run tests are busy.
    public init(
        _ stage: any Stage, request: ImageRequest? = nil, original: [UInt8]? = nil, image: DecodedImage? = nil,
        patience: Duration = .seconds(1)
    ) {
        self.stage = stage
        let nowhere = ImageSource.url(URL(string: "http://127.0.0.1:1/picture.png") ?? URL(filePath: "/picture.png"))
        self.request = request ?? ImageRequest(nowhere)
        let size = PixelSize(width: 8, height: 6)
        self.original = EncodedImage(bytes: original ?? Picture.png(size), declaredType: "image/png")
        self.image = image ?? .filled(size, with: [200, 100, 50])
        self.patience = patience
    }

    /// Checks the stage.
    /// - Throws: ``Failure`` with every violation.
    public func check() async throws {
        let breaches = await breaches()
        if !breaches.isEmpty { throw Failure(breaches: breaches) }
    }

    /// Every violation of the contract, in a sentence each; none if the stage keeps to it.
    package func breaches() async -> [String] {
        guard !stage.accepts.isEmpty else { return ["\(stage.name) accepts no phase, so it can never run."] }
        var breaches: [String] = []
        if stage.produces.isEmpty { breaches.append("\(stage.name) produces no phase; say in which it leaves a load.") }
        for phase in Phase.allCases where stage.accepts.contains(phase) {
            breaches += await run(in: phase)
            breaches += await cancel(in: phase)
        }
        return breaches
    }

    private func content(_ phase: Phase) -> LoadContent {
        switch phase {
        case .empty: .empty
        case .redirected: .redirected
        case .original: .original(original)
        case .decoded: .decoded(image)
        case .encoded: .encoded(original)
        case .ready: .ready(.image(image))
        }
    }

    /// Brings a load to a phase and runs `body` in place of the stage.
    private func load(
        in phase: Phase, clock: any LoadClock, _ body: @escaping @Sendable (inout Load) async throws -> Outcome
    ) async throws {
        let content = content(phase)
        let arrive = ClosureStage("Arrive") { load in
            if let key = SourceKey(load.request) { load.identify(as: key) }
            if phase != .empty { load.advance(to: content, from: .network) }
            return .done
        }
        // Signed, so that a missing signature is found here and not by the engine.
        let checked = ClosureStage(stage.name, accepts: Phases(phase), signature: stage.signature ?? "unsigned", body)
        let chain = Chain([arrive, checked])
        _ = try await ImagePipeline(validating: chain, clock: clock).load(request)
    }

    private func run(in phase: Phase) async -> [String] {
        let breaches = Lock<[String]>([])
        do {
            try await load(in: phase, clock: HastyClock()) { [stage] load in
                let before = load.content
                let outcome = try await stage.run(&load)
                let after = load
                breaches.withLock { $0 += Self.breaches(of: stage, before, after) }
                return outcome
            }
        } catch let error as LoadError where error.code == .stageContract {
            breaches.withLock { $0.append("In the phase \(phase): \(error)") }
        } catch {}
        return breaches.withLock { $0 }
    }

    private static func breaches(of stage: any Stage, _ before: LoadContent, _ load: Load) -> [String] {
        var breaches: [String] = []
        if !stage.produces.contains(load.phase) {
            breaches.append(
                "\(stage.name) left a load in the phase \(load.phase), but says that it produces \(stage.produces).")
        }
        if load.response.kind != .unknown, !stage.leaves.contains(load.response.kind) {
            breaches.append(
                "\(stage.name) left a load with a response that is \(load.response.kind); name that in its `leaves`.")
        }
        if case .decoded(let old) = before, case .decoded(let new) = load.content, old.frames != new.frames,
            stage.signature == nil
        {
            breaches.append(
                "\(stage.name) changes pixels without a signature: its results and others' would share a key.")
        }
        return breaches
    }

    private func cancel(in phase: Phase) async -> [String] {
        var breaches: [String] = []
        for isLate in [false, true] where !(await ends(in: phase, cancelledLate: isLate)) {
            breaches.append(
                "\(stage.name) in the phase \(phase) continues \(isLate ? "when" : "though") its task "
                    + "\(isLate ? "is cancelled while it waits" : "was cancelled before it began").")
        }
        return breaches
    }

    /// Whether the stage ends soon after its task is cancelled.
    private func ends(in phase: Phase, cancelledLate: Bool) async -> Bool {
        let (race, begun, suspended) = (Race(), Race(), Race())
        let cancelledAt = Lock<ContinuousClock.Instant?>(nil)
        let thread = StageThread { suspended.finish(true) }
        let running = Task(executorPreference: thread) {
            try? await load(in: phase, clock: ManualClock()) { [stage] load in
                // The engine would not even begin with a stage in a task that is cancelled already.
                if !cancelledLate {
                    cancelledAt.withLock { $0 = .now }
                    withUnsafeCurrentTask { $0?.cancel() }
                }
                begun.finish(true)
                return try await stage.run(&load)
            }
            // A stage that blocked may have kept the watch from running too.
            let isSoon = cancelledAt.withLock { $0.map { .now - $0 <= patience } ?? true }
            begun.finish(true)
            race.finish(isSoon)
            thread.end()
        }
        _ = await begun.result()
        await suspended.result(within: Self.longestStart)
        if cancelledLate { cancelledAt.withLock { $0 = .now } }
        running.cancel()
        thread.resume()
        return await race.result(within: patience)
    }

    /// How long a stage may run before it first waits; one that continues for longer is cancelled while it runs.
    private static let longestStart = Duration.milliseconds(50)
}
