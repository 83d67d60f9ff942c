import Pipeline
import PipelineTesting
import TestFixtures
import Testing

@testable import PipelineImages

@Suite("All work on a load shares one limit of time", .timeLimit(.minutes(5)))
struct WorkTimeTests {
    private let clock = ManualClock()

    private func load(_ stages: [any Stage]) async throws -> LoadResponse {
        try await ImagePipeline(validating: Chain([ReadInline()] + stages), clock: clock)
            .load(ImageRequest(.bytes(SlowFormat.file)))
    }

    @Test(
        "The header, the decode, a transform and the encode count together",
        arguments: [(3, "Decode"), (7, "Decode"), (11, "Transform"), (15, "Encode"), (16, nil)] as [(Int, String?)])
    func together(_ limit: Int, _ late: String?) async throws {
        var slow = SlowFormat(clock)
        (slow.header, slow.decoding, slow.encoding) = (.seconds(4), .seconds(4), .seconds(4))
        let codecs: ImageCodecs = [slow.codec]
        let stages: [any Stage] = [
            Decode(codecs: codecs, limits: ImageLimits(time: .seconds(limit))),
            SlowFormat.Transform(clock: clock, time: .seconds(4)), Encode(SlowFormat.format, codecs: codecs),
        ]
        do {
            #expect(try await load(stages).encoded != nil)
            #expect(late == nil)
        } catch let error as LoadError {
            #expect(error.code == .tooMuchTime)
            #expect(error.stage == late)
            #expect(error.message.contains("\(limit).0 seconds"), "the whole limit is named, not what was left of it")
        }
    }

    @Test("Waiting for memory doesn't count")
    func waiting() async throws {
        let (slow, budget) = (SlowFormat(clock), MemoryBudget(bytes: 1_000_000))
        #expect(budget.claimNow(1_000_000, priority: .normal))
        let decode = Decode(codecs: [slow.codec], limits: ImageLimits(time: .seconds(5)), budget: budget)
        let load = Task { try await self.load([decode]) }
        while budget.waiting == 0 { await Task.yield() }
        clock.advance(by: .seconds(100))
        budget.release(1_000_000)
        #expect(try await load.value.image != nil)
    }

    @Test("A header that a stage has read with the same codec isn't read again")
    func headers() async throws {
        let slow = SlowFormat(clock)
        let codecs: ImageCodecs = [slow.codec]
        _ = try await load([CheckHeader(codecs: codecs), CheckHeader(codecs: codecs), Decode(codecs: codecs)])
        #expect(slow.headers.value == 1)
        _ = try await load([CheckHeader(codecs: codecs), Decode(codecs: [slow.codec])])
        #expect(slow.headers.value == 3)
        let other = ClosureStage("Replace", accepts: .original, produces: .original) { load in
            load.advance(to: .original(EncodedImage(bytes: Array("slow, too".utf8))))
            return .done
        }
        _ = try await load([CheckHeader(codecs: codecs), other, Decode(codecs: codecs)])
        #expect(slow.headers.value == 5)
    }

    /// Ends a list with the picture's width, as a stage of a program's own would.
    private struct Width: Stage {
        let accepts: Phases = .original
        let produces: Phases = .encoded
        let codecs: ImageCodecs
        let limits: ImageLimits
        var signature: String? { "width" }

        func run(_ load: inout Load) async throws -> Outcome {
            let width = try await load.header(limits: limits, codecs: codecs).size.width
            load.advance(to: .encoded(EncodedImage(bytes: Array("\(width)".utf8))))
            return .done
        }
    }

    @Test("A stage reads a header within the limits of bytes and time")
    func facts() async throws {
        var slow = SlowFormat(clock)
        slow.header = .seconds(20)
        let codecs: ImageCodecs = [slow.codec]
        for (limits, expected) in [
            (ImageLimits(), nil), (ImageLimits(time: .seconds(19)), .tooMuchTime),
            (ImageLimits(encodedBytes: 8), .tooManyBytes),
        ] as [(ImageLimits, LoadError.Code?)] {
            do {
                let found = try await load([Width(codecs: codecs, limits: limits)])
                #expect(found.encoded?.bytes == Array("10".utf8) && expected == nil)
            } catch let error as LoadError {
                #expect(error.code == expected)
            }
        }
        await #expect(throws: LoadError.self) { try await load([Width(codecs: .standard, limits: ImageLimits())]) }
    }

    @Test(
        "A load out of time leaves a codec that can't be stopped, which keeps its memory until it ends",
        arguments: [SlowFormat.Step.header, .decode, .encode])
    func left(_ step: SlowFormat.Step) async throws {
        var slow = SlowFormat(clock)
        slow.stuck = step
        let (codecs, budget): (ImageCodecs, _) = ([slow.codec], MemoryBudget(bytes: 1_000_000))
        let (threads, held) = (BlockingThreads(name: "test", count: 1), MemoryBudget(bytes: 10))
        let stages: [any Stage] = [
            Hold(budget: held),
            Decode(codecs: codecs, budget: budget, threads: threads),
            Encode(SlowFormat.format, codecs: codecs, threads: threads),
        ]
        let load = Task { try await self.load(stages) }
        await [SlowFormat.Step.header: slow.headers, .decode: slow.decodes, .encode: slow.encodes][step]?.reaches(1)
        try await clock.sleepers(1, includingLimits: true)
        clock.advance(by: .seconds(31))
        let error = await #expect(throws: LoadError.self) { _ = try await load.value }
        #expect(error?.code == .tooMuchTime)
        #expect(error?.message.contains("Raise the limit of time.") == true)
        if step != .header { #expect(!budget.claimNow(1_000_000, priority: .normal)) }
        #expect(!held.claimNow(10, priority: .normal))
        slow.barrier.open()
        // The thread's next work is done after it.
        #expect(try await threads.run { _ in budget.claimNow(1_000_000, priority: .normal) })
        while !held.claimNow(10, priority: .normal) { await Task.yield() }
    }

    /// Holds memory for the load, as a command does that limits the memory of all images.
    private struct Hold: Stage {
        let budget: MemoryBudget
        let accepts: Phases = .original
        let produces: Phases = .original

        func run(_ load: inout Load) async throws -> Outcome {
            load.attach(try await budget.claimed(10, priority: .normal))
            return .done
        }
    }
}
