import Essentials
import LibC
import Pipeline
import PipelineTesting
import Synchronization
import TestFixtures
import Testing

@Suite("The contract of stages, checked on a stage")
struct StageSpecTests {
    private struct Brighten: Transform {
        var signature: String?
        func apply(_ image: DecodedImage) async throws -> DecodedImage { .filled(image.size, with: [255, 255, 255]) }
    }

    @Test("Stages that keep to the contract pass, failing ones included")
    func good() async throws {
        try await StageSpec(Brighten(signature: "brighten")).check()
        try await StageSpec(ClosureStage("Fails") { _ in throw LoadError(.refused, subject: "", "no") }).check()
        try await StageSpec(
            ClosureStage("Waits", accepts: .all) { load in
                try await load.clock.sleep(for: .seconds(5))
                return .done
            }
        ).check()
        try await StageSpec(RecordingStage()).check()
    }

    @Test("A stage that accepts nothing is told")
    func nothing() async {
        let breaches = await StageSpec(ClosureStage("Idle", accepts: []) { _ in .done }).breaches()
        #expect(breaches == ["Idle accepts no phase, so it can never run."])
    }

    @Test("A stage that moves a load back is told")
    func back() async {
        let stage = ClosureStage("Back", accepts: .decoded, produces: .all) { load in
            load.advance(to: .original(EncodedImage(bytes: [1])))
            return .done
        }
        let breaches = await StageSpec(stage).breaches()
        #expect(breaches.count == 1)
        #expect(breaches.first?.contains("only moves forward") == true)
    }

    @Test("A stage that leaves a load elsewhere than it says is told")
    func elsewhere() async {
        let stage = ClosureStage("Liar", accepts: .original, produces: .original) { load in
            load.advance(to: .decoded(.filled(2)))
            return .done
        }
        #expect(
            await StageSpec(stage).breaches() == [
                "Liar left a load in the phase decoded, but says that it produces original."
            ])
    }

    @Test("A stage that leaves a response that it doesn't name is told")
    func unnamedResponse() async {
        struct Deliver: Stage {
            let accepts: Phases = .empty
            let leaves: Set<ResponseState.Kind>
            func run(_ load: inout Load) async throws -> Outcome {
                load.deliver(try .test(at: .distantPast))
                return .done
            }
        }
        #expect(
            await StageSpec(Deliver(leaves: [.confirmed])).breaches() == [
                "Deliver left a load with a response that is fetched; name that in its `leaves`."
            ])
        #expect(await StageSpec(Deliver(leaves: [.fetched])).breaches().isEmpty)
    }

    @Test("A transform without a signature is told")
    func unsigned() async {
        #expect(
            await StageSpec(Brighten(signature: nil)).breaches() == [
                "Brighten changes pixels without a signature: its results and others' would share a key."
            ])
    }

    @Test("A stage that continues when it is cancelled is told, for each way of cancelling")
    func goesOn() async {
        let isEnough = Atomic<Bool>(false)
        let stage = ClosureStage("Stubborn") { _ in
            await Task.yield()
            while Task.isCancelled, !isEnough.load(ordering: .relaxed) { await Task.yield() }
            return .done
        }
        let breaches = await StageSpec(stage, patience: .milliseconds(20)).breaches()
        isEnough.store(true, ordering: .relaxed)
        #expect(
            breaches == [
                "Stubborn in the phase empty continues though its task was cancelled before it began.",
                "Stubborn in the phase empty continues when its task is cancelled while it waits.",
            ])
    }

    @Test("A stage that blocks its thread is told, and so is one that waits whatever happens to its task")
    func blocks() async {
        let isEnough = Lock(false)
        // Neither ends by itself: a check that a busy machine holds up for long still finds it running.
        func stage(_ name: String, _ goOn: @escaping @Sendable () async -> Void) -> ClosureStage {
            let runs = Lock(0)
            return ClosureStage(name) { _ in
                let number = runs.withLock { count in
                    count += 1
                    return count
                }
                // The first run is not cancelled.
                if number > 1 { await goOn() }
                return .done
            }
        }
        let blocking = stage("Blocking") { while !isEnough.withLock({ $0 }) { usleep(1000) } }
        let deaf = stage("Deaf") { await Task { while !isEnough.withLock({ $0 }) { await Task.yield() } }.value }
        defer { isEnough.withLock { $0 = true } }
        for stage in [blocking, deaf] {
            #expect(
                await StageSpec(stage, patience: .milliseconds(100)).breaches() == [
                    "\(stage.name) in the phase empty continues though its task was cancelled before it began.",
                    "\(stage.name) in the phase empty continues when its task is cancelled while it waits.",
                ])
        }
    }
}
