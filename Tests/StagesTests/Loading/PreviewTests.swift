import Foundation
import HTTPTypes
import Pipeline
import PipelineHTTP
import PipelineImages
import PipelineTesting
import TestFixtures
import Testing

@testable import Stages

@Suite("Previews of what has arrived")
struct PreviewTests {
    private let site: Site

    init() throws { site = try Site() }

    private func loader() throws -> ImageLoader {
        try ImageLoader(site.resources(), defaults: LoadOptions(maxPixelSize: 100)) { policy, resources in
            policy.pipeline(resources).replacing(
                Fetch.self,
                with: Preview(minimumBytes: 1000) { Fetch(resources.client) },
                where: .present)
        }
    }

    /// Serves a file up to a byte, and the rest when the gate opens.
    private func serve(_ name: String, heldAfter count: Int) throws -> (URL, ScriptedOrigin.Gate) {
        let gate = try ScriptedOrigin.Gate()
        let picture = try Pictures.bytes(name)
        site.origin.route("/held") { _ in .init(body: picture).held(until: gate, after: count) }
        return (site.origin.url("/held"), gate)
    }

    @Test(
        "A progressive JPEG, a baseline one and a WebP are shown before they are there, and none after",
        arguments: [
            ("good/jpeg-progressive-444.jpg", 30_000), ("good/photo-12mp-baseline-420.jpg", 600_000),
            ("good/webp-lossless.webp", 20_000), ("good/webp-lossy.webp", 3000),
        ])
    func preview(name: String, count: Int) async throws {
        let (url, gate) = try serve(name, heldAfter: count)
        let task = try loader().task(for: url)
        var previews: [DecodedImage] = []
        var after: [String] = []
        for await event in task.events {
            if case .preview(let image) = event {
                previews.append(image)
                // Had no preview come, nothing would open it.
                gate.open()
            }
            if !previews.isEmpty, let word = event.words { after.append(word) }
        }
        let response = try await task.response
        let preview = try #require(previews.first)
        #expect(preview.nativeSize == response.image.nativeSize)
        #expect(Set(preview.pixels).count > 1)
        #expect(after == ["requestCompleted(image, network)"])
        await site.flights.drain()
    }

    @Test("The first scans of a progressive JPEG are the whole picture, only coarser")
    func coarse() async throws {
        let (url, gate) = try serve("good/jpeg-progressive-444.jpg", heldAfter: 20_000)
        let task = try loader().task(for: url, options: LoadOptions(maxPixelSize: nil))
        var preview: DecodedImage?
        for await event in task.events {
            if case .preview(let image) = event {
                preview = preview ?? image
                gate.open()
            }
        }
        let image = try await task.response.image
        let coarse = try #require(preview)
        try #require(coarse.size == image.size)
        let difference = zip(coarse.pixels, image.pixels).reduce(0) { $0 + abs(Int($1.0) - Int($1.1)) }
        let mean = Double(difference) / Double(image.pixels.count)
        #expect(mean > 0 && mean < 12)
    }

    @Test("A file that can't be decoded in part gives its image all the same")
    func noPreview() async throws {
        let (url, gate) = try serve("good/png-basi2c08.png", heldAfter: 20)
        gate.open()
        #expect(try await loader().load(url).image.width == 32)
    }

    @Test("At most one picture is decoded at a time, and ending waits for it")
    func oneAtATime() async throws {
        let begun = Counter()
        let gate = Gate()
        let arriving = ArrivingBytes(every: 10) { _, _ in
            begun.increment()
            try await gate.wait()
            return .filled(1)
        }
        let events = Lock(0)
        let load = Lock<Load?>(nil)
        _ = try? await ImagePipeline {
            StubStage("Watch") { running in
                let copy = running
                load.withLock { $0 = copy }
                return .done
            }
        }.load(ImageRequest(.bytes([]))) { _ in events.withLock { $0 += 1 } }
        let running = try #require(load.withLock { $0 })
        arriving.show([UInt8](repeating: 0, count: 9), of: running)
        for count in 10...200 { arriving.show([UInt8](repeating: 0, count: count), of: running) }
        await begun.reaches(1)
        await arriving.end()
        arriving.show([UInt8](repeating: 0, count: 900), of: running)
        #expect(begun.value == 1)
        #expect(events.withLock { $0 } == 0)
    }

    @Test("A preview that would take too long, or too much memory, is left out")
    func limits() async throws {
        let bytes = try Pictures.bytes("good/jpeg-progressive-444.jpg")
        func preview(_ limits: ImageLimits, patience: Int) async throws -> DecodedImage? {
            try await Preview(limits: limits) { Chain([]) }
                .picture(
                    of: bytes, ImageCodec.jpeg.decoder, nil, .normal,
                    WorkTime(limit: limits.time, clock: ImpatientClock(patience: patience)))
        }
        let second = ImageLimits(time: .seconds(1))
        #expect(try await preview(second, patience: .max) != nil)
        let late = try await #require(throws: LoadError.self) { try await preview(second, patience: 30) }
        #expect(late.code == .tooMuchTime)
        #expect(try await preview(ImageLimits(time: nil), patience: 30) != nil)
        let large = try await #require(throws: LoadError.self) {
            try await preview(ImageLimits(memory: 1000), patience: .max)
        }
        #expect(large.code == .tooMuchMemory)
    }
}
