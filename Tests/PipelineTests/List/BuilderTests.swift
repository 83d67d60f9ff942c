import Pipeline
import PipelineTesting
import TestFixtures
import Testing

@Suite("A list is written as a list")
struct BuilderTests {
    private enum Policy: CaseIterable { case memory, disk, network }

    private func names(_ chain: Chain) -> [String] { chain.stages.map(\.name) }

    @Test("if, with and without else", arguments: [true, false])
    func conditions(flag: Bool) {
        let chain = Chain {
            if flag { Look() }
            if flag { Find() } else { StubStage.missing("Other") }
            Paint()
        }
        #expect(names(chain) == (flag ? ["Look", "Find", "Paint"] : ["Other", "Paint"]))
    }

    @Test("if let", arguments: [nil, 3])
    func optionals(radius: Int?) {
        let chain = Chain {
            if let radius {
                Blur(radius: radius)
                Keep()
            }
        }
        #expect(names(chain) == (radius == nil ? [] : ["Blur", "Keep"]))
    }

    @Test("switch", arguments: Policy.allCases)
    private func switching(policy: Policy) {
        let chain = Chain {
            switch policy {
            case .memory: Look()
            case .disk:
                Look()
                StubStage.missing("Disk")
            case .network: Find()
            }
        }
        let expected = [Policy.memory: ["Look"], .disk: ["Look", "Disk"], .network: ["Find"]]
        #expect(names(chain) == expected[policy])
    }

    @Test("for, and lists and stages made elsewhere")
    func listsStages() {
        let extras: [any Stage] = [Look(), Find()]
        let elsewhere = Chain {
            Paint()
            Keep()
        }
        let chain = Chain {
            for radius in 1...3 { Blur(radius: radius) }
            extras
            elsewhere
        }
        #expect(names(chain) == ["Blur", "Blur", "Blur", "Look", "Find", "Paint", "Keep"])
        #expect(chain.stages.compactMap { ($0 as? Blur)?.radius } == [1, 2, 3])
    }

    @Test("It prints a stage a line, parameters in parentheses, bodies in braces")
    func printsStage() {
        let pipeline = ImagePipeline {
            Look()
            Wrap {
                Find()
                Wrap { Paint() }
            }
            Blur(radius: 7)
            Keep()
        }
        #expect(
            pipeline.description == """
                Look
                Wrap {
                    Find
                    Wrap {
                        Paint
                    }
                }
                Blur(7)
                Keep
                """)
        #expect("\(pipeline.chain)" == pipeline.description)
    }
}
