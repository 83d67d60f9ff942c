import Foundation
import HTTPTypes
import Pipeline
import PipelineTesting
import Stages
import TestFixtures
import Testing

@Suite("Alternatives")
struct FirstOfTests {
    private let site: Site

    init() throws { site = try Site() }

    private var mirror: Rewritten {
        let url = site.origin.url("/mirror")
        return Rewritten(site.client) { request in
            var request = request
            request.url = url
            return request
        }
    }

    private func pipeline(_ resources: PipelineResources) -> ImagePipeline {
        .returnCacheElseLoad(resources).replacing(
            Fetch.self,
            with: FirstOf {
                Fetch(resources.client)
                Alternative {
                    Fetch(mirror)
                    Decode()
                }
            })
    }

    @Test("The first that gives something wins, and the next are not asked")
    func first() async throws {
        _ = try await pipeline(site.resources()).load(ImageRequest(site.origin.url("/a")))
        #expect(site.origin.log.requests.map(\.target) == ["/a"])
    }

    @Test("Where one fails the next takes its place; an observer sees one request, the trace both, and it is stored")
    func next() async throws {
        let picture = try Pictures.bytes("good/webp-lossy.webp")
        site.origin.route("/a") { _ in .init(status: 500) }
        site.origin.route("/mirror") { _ in .init(headers: [.cacheControl: "max-age=60"], body: picture) }
        let events = Lock<[String]>([])
        let request = ImageRequest(site.origin.url("/a"))
        let response = try await pipeline(site.resources()).load(request) { event in
            switch event {
            case .sendingRequest: events.withLock { $0.append("sent") }
            case .requestCompleted(let source, _): events.withLock { $0.append("completed \(source?.rawValue ?? "-")") }
            default: break
            }
        }
        #expect(response.image?.size.width == 160)
        #expect(events.withLock { $0 } == ["sent", "completed network"])
        #expect(
            response.trace.entries.filter { $0.stage == "Fetch" }.map { "\($0.outcome)" } == ["failed", "done"])
        #expect(try await pipeline(site.resources()).load(request).source == .disk)
    }

    @Test("Where all fail the last error is the result, told once")
    func none() async throws {
        site.origin.route("/a") { _ in .init(status: 500) }
        site.origin.route("/mirror") { _ in .init(status: 404) }
        let completed = Counter()
        let error = await failure(.httpStatus) {
            try await pipeline(site.resources()).load(ImageRequest(site.origin.url("/a"))) { event in
                if case .requestCompleted = event { completed.increment() }
            }
        }
        #expect(error?.httpStatus == 404)
        #expect(completed.value == 1)
    }

    @Test("An alternative that leaves the load where it was has its place taken by the next")
    func unmoved() async throws {
        let resources = site.resources()
        let response = try await ImagePipeline {
            ResolveIdentifier()
            FirstOf {
                Lookup(resources.responses)
                Fetch(resources.client)
            }
        }.load(ImageRequest(site.origin.url("/a")))
        #expect(response.source == .network)
    }

    @Test("A list is checked as what it is: alternatives begin alike, and one that can't run is found")
    func check() throws {
        let moving = StubStage("Moving", produces: .original) { load in
            load.advance(to: .original(EncodedImage(bytes: [1])), from: .network)
            return .done
        }
        _ = try ImagePipeline(
            validating: Chain {
                FirstOf {
                    moving
                    moving
                }
            })
        #expect(throws: LoadError.self) {
            try ImagePipeline(
                validating: Chain {
                    FirstOf {
                        moving
                        Decode()
                    }
                })
        }
    }

    @Test("Alternatives know nothing of each other's crops")
    func alternatives() async throws {
        let response = try await SampleImage.load(try Pictures.bytes("good/jpeg-greyscale.jpg")) {
            FirstOf {
                Alternative {
                    Decode()
                    WatchDecoding()
                }
                Alternative {
                    Decode()
                    Crop(8)
                }
            }
        }
        #expect(response.image?.size == PixelSize(width: 100, height: 75))
    }

    @Test("An alternative has what the one before it left of the limit of work")
    func again() async throws {
        let clock = ManualClock()
        var slow = SlowFormat(clock)
        slow.decoding = .seconds(20)
        let decode = Decode(codecs: [slow.codec])
        let fail = ClosureStage("Fail", accepts: .decoded, produces: .decoded, signature: "fail") { load in
            throw LoadError(.undecodable, subject: load.subject, "It always fails.")
        }
        let pipeline = ImagePipeline(clock: clock) {
            ReadInline()
            FirstOf {
                Alternative {
                    decode
                    fail
                }
                decode
            }
        }
        let error = await #expect(throws: LoadError.self) {
            _ = try await pipeline.load(ImageRequest(.bytes(SlowFormat.file)))
        }
        #expect(error?.code == .tooMuchTime)
        #expect(slow.decodes.value == 2)
    }
}
