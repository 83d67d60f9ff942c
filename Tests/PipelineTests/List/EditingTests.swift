import Pipeline
import PipelineTesting
import TestFixtures
import Testing

@Suite("A pipeline can be edited as a list")
struct EditingTests {
    private let pipeline = ImagePipeline {
        Look()
        Wrap {
            Look()
            Wrap { Find() }
            Paint()
        }
        Keep()
    }

    @Test("Replacing, in composites too")
    func replacingComposites() {
        #expect(
            pipeline.replacing(Look.self, with: StubStage.missing("Other")).description == """
                Other
                Wrap {
                    Other
                    Wrap {
                        Find
                    }
                    Paint
                }
                Keep
                """)
    }

    @Test("Removing, in composites too")
    func removingComposites() {
        #expect(
            pipeline.removing(Look.self).description == """
                Wrap {
                    Wrap {
                        Find
                    }
                    Paint
                }
                Keep
                """)
    }

    @Test("Inserting before and after, in composites too")
    func insertingBefore() {
        #expect(
            pipeline.inserting(StubStage.missing("New"), before: Look.self)
                .inserting(Blur(), after: Paint.self).description == """
                    New
                    Look
                    Wrap {
                        New
                        Look
                        Wrap {
                            Find
                        }
                        Paint
                        Blur(1)
                    }
                    Keep
                    """)
    }

    @Test("Wrapping, in composites too, by what is made of each stage")
    func wrappingComposites() {
        let look = StubStage.missing("Before")
        #expect(
            pipeline.wrapping(Look.self) { found in
                look
                Wrap { found }
            }.wrapping(Paint.self) { paint in
                paint
                Blur()
            }.description == """
                Before
                Wrap {
                    Look
                }
                Wrap {
                    Before
                    Wrap {
                        Look
                    }
                    Wrap {
                        Find
                    }
                    Paint
                    Blur(1)
                }
                Keep
                """)
    }

    @Test("A composite can be wrapped as a whole")
    func compositeCan() {
        let nested = pipeline.wrapping(Wrap.self) { wrap in Wrap { wrap } }
        let start = "Look\nWrap {\n    Wrap {\n        Look\n        Wrap {\n            Find\n"
        #expect(nested.description.hasPrefix(start))
    }

    @Test("Wrapping what isn't there is told as any edit")
    func wrappingIsnt() throws {
        let list = try ImagePipeline(validating: Chain { Find() })
        #expect(list.wrapping(Keep.self, where: .present) { keep in Wrap { keep } }.description == "Find")
        #expect(list.wrapping(Keep.self) { keep in Wrap { keep } }.misplacedEdits == ["wrapping(Keep)"])
    }

    @Test("A composite that removing empties goes with what it wrapped")
    func compositeRemoving() {
        let offline = ImagePipeline {
            StubStage.missing("Disk")
            Wrap { Wrap { Look() } }
            StubStage.giving("Answer", .ready())
        }.removing(Look.self)
        #expect(offline.description == "Disk\nAnswer")
    }

    @Test("A composite can itself be replaced, with all that it wraps")
    func compositeCanItself() {
        let flat = pipeline.replacing(Wrap.self, with: StubStage.giving("Find", .decoded()))
        #expect(flat.description == "Look\nFind\nKeep")
    }

    @Test("An edited pipeline keeps its clock, runs as it reads and leaves the old one alone")
    func editedPipeline() async throws {
        let clock = ManualClock()
        let first = ImagePipeline(clock: clock) {
            Find()
            Paint()
        }
        let edited = first.inserting(Blur(radius: 4), after: Paint.self)
        #expect(edited.clock as? ManualClock === clock)
        #expect(edited.signature != first.signature)
        #expect(try await edited.load(.at()).trace.summary == "Find done, Paint done, Blur done")
        #expect(try await first.load(.at()).trace.summary == "Find done, Paint done")
    }

    @Test("A composite that an edit does not reach stays as it is")
    func compositeEdit() {
        let edited = pipeline.inserting(Blur(), before: Keep.self)
        #expect(edited.description == pipeline.description.replacing("Keep", with: "Blur(1)\nKeep"))
    }

    // An edit that matches nothing, or that leaves a stage without work, is a programmer's error: it names the stages.

    @Test("Replacing what isn't there ends the program and names the stages")
    func replacingIsnt() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = ImagePipeline {
                Find()
                Wrap { Paint() }
            }.replacing(Keep.self, with: Blur())
        }
        let message = try #require(result.map { String(decoding: $0.standardErrorContent, as: UTF8.self) })
        #expect(
            message.contains(
                "replacing(Keep, with: Blur) finds no place in this pipeline. Its stages are:\nFind\nWrap {\n    Paint\n}"
            ))
        // The caller's line, not that of the library.
        #expect(message.contains(/Pipeline: PipelineTests\/EditingTests\.swift:[0-9]+: replacing/))
    }

    @Test("Removing and inserting at what isn't there end the program")
    func removingInserting() async {
        await #expect(processExitsWith: .failure) { _ = ImagePipeline { Find() }.removing(Keep.self) }
        await #expect(processExitsWith: .failure) { _ = ImagePipeline { Find() }.inserting(Look(), before: Keep.self) }
        await #expect(processExitsWith: .failure) { _ = ImagePipeline { Find() }.inserting(Look(), after: Keep.self) }
    }

    @Test("An edit that leaves a stage without work ends the program and names it")
    func editLeaves() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = ImagePipeline {
                Find()
                Paint()
            }.removing(Find.self)
        }
        let message = try #require(result.map { String(decoding: $0.standardErrorContent, as: UTF8.self) })
        #expect(message.contains("Paint can never run: it accepts original, but where it stands a load is empty."))
    }

    // A list that is made at run time may differ each time: no edit of it ends the program.

    @Test("An edit for lists with its place leaves others as they are")
    func editLists() throws {
        let list = try ImagePipeline(
            validating: Chain {
                Find()
                Wrap { Paint() }
            })
        #expect(list.replacing(Keep.self, with: Blur(), where: .present).description == list.description)
        #expect(list.removing(Keep.self, where: .present).description == list.description)
        #expect(list.inserting(Look(), before: Keep.self, where: .present).description == list.description)
        #expect(list.inserting(Look(), after: Keep.self, where: .present).description == list.description)
        #expect(!list.contains(Keep.self))
        #expect(list.contains(Paint.self))
    }

    @Test("An edit that finds nothing fails each load of a list that was made at run time")
    func editFinds() async throws {
        let list = try ImagePipeline(validating: Chain { Find() })
        // A later edit doesn't make up for it.
        let edited = list.inserting(Look(), before: Keep.self).inserting(Paint(), after: Find.self)
        let error = try await #require(throws: LoadError.self) { try await edited.load(.at()) }
        #expect(error.code == .stageContract)
        #expect(error.message.hasPrefix("inserting(Look, before: Keep) finds no place"))
    }

    @Test("An edit that leaves a stage without work fails each load of a list that was made at run time")
    func editLeavesStage()
        async throws
    {
        let list = try ImagePipeline(
            validating: Chain {
                Find()
                Paint()
            })
        let broken = list.removing(Find.self)
        let error = try await #require(throws: LoadError.self) { try await broken.load(.at()) }
        #expect(error.code == .stageContract)
        #expect(error.message.hasPrefix("Paint can never run"))
        // The next edit makes it whole.
        let whole = broken.inserting(Find(), before: Paint.self)
        #expect(try await whole.load(.at()).trace.summary == "Find done, Paint done")
    }
}
