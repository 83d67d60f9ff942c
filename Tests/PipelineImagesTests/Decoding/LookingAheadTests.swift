import Pipeline
import PipelineImages
import TestFixtures
import Testing

@Suite("A decoder makes no more pixels than the next stages need")
struct LookingAheadTests {
    /// Notes the size of what comes out of `Decode`.
    private struct Watch: Stage, PixelSizing {
        let accepts: Phases = .decoded
        func neededBox(of size: PixelSize, later: PixelNeeds) -> PixelSize? { later.box(of: size) }
        func run(_ load: inout Load) async throws -> Outcome {
            if case .decoded(let image) = load.content { load.note("decoded \(image.size)") }
            return .done
        }
    }

    private func run(_ path: String, @ChainBuilder _ stages: () -> Chain) async throws -> (String, DecodedImage) {
        let response = try await SampleImage.load(try Pictures.bytes(path)) {
            Decode()
            Watch()
            stages()
        }
        let note = response.trace.entries(of: Watch.self).first?.note ?? ""
        return (note, try #require(response.image))
    }

    private static let photo = "good/photo-12mp-baseline-420.jpg"

    @Test(
        "A resize decides how large the picture is decoded, whatever its fit",
        arguments: [
            (Resize.Fit.inside, "300×221", 300, 221), (.outside, "406×300", 406, 300), (.cover, "406×300", 300, 300),
            (.contain, "300×221", 300, 300), (.fill, "406×300", 300, 300),
        ])
    func fits(_ fit: Resize.Fit, _ decoded: String, _ width: Int, _ height: Int) async throws {
        let (note, image) = try await run(Self.photo) { Resize(300, fit: fit) }
        #expect(note == "decoded \(decoded)")
        #expect(image.size == PixelSize(width: width, height: height))
    }

    @Test("What comes out is as if every pixel had been decoded")
    func sameResult() async throws {
        let small = try await run(Self.photo) { Resize(PixelSize(width: 120, height: 200), fit: .cover) }.1
        let all = try await SampleImage.decode(try Pictures.bytes(Self.photo))
        let expected = try await Resize(PixelSize(width: 120, height: 200), fit: .cover).apply(all)
        #expect(small.difference(from: expected) < 1)
    }

    @Test("Stages that move pixels or treat them one by one pass the need on, turned where they turn")
    func passedOn() async throws {
        let (note, image) = try await run(Self.photo) {
            Downscale()
            Rotate(.quarter)
            Flip(.vertical)
            Grayscale()
            Flatten()
            Resize(PixelSize(width: 100, height: 1000))
        }
        #expect(note == "decoded 135×100")
        #expect(image.size == PixelSize(width: 100, height: 135))
    }

    @Test("A picture that lies on its side is decoded for the box that it has upright")
    func orientation() async throws {
        let (note, image) = try await run("good/exif-orientation-6.jpg") { Resize(20) }
        #expect(note == "decoded 10×20")
        #expect(image.size == PixelSize(width: 10, height: 20))
    }

    @Test("Any other stage gets every pixel, and so does a resize that makes the picture larger")
    func everyPixel() async throws {
        let name = "good/jpeg-greyscale.jpg"
        #expect(
            try await run(name) {
                Crop(50)
                Resize(10)
            }.0 == "decoded 100×75")
        #expect(try await run(name) { Resize(1000, fit: .cover, enlarges: true) }.0 == "decoded 100×75")
        #expect(try await run(name) { Resize(PixelSize(width: 1000, height: 10), fit: .fill) }.0 == "decoded 100×75")
        #expect(try await run(name) { Grayscale() }.0 == "decoded 100×75")
    }

    @Test("The request's maxPixelSize comes first")
    func request() async throws {
        let response = try await SampleImage.load(try Pictures.bytes(Self.photo), maxPixelSize: 50) {
            Decode()
            Downscale()
            Resize(200)
        }
        #expect(response.image?.size == PixelSize(width: 50, height: 37))
    }

    @Test("It holds through composites, and after the list is edited")
    func composites() async throws {
        let pipeline = try ImagePipeline(
            validating: Chain {
                ReadInline()
                Wrap {
                    Decode()
                    Watch()
                }
                Downscale()
            })
        let edited = pipeline.inserting(Resize(40), after: Downscale.self)
        for (list, size) in [(pipeline, "4032×2976"), (edited, "40×30")] {
            let response = try await list.load(ImageRequest(.bytes(try Pictures.bytes(Self.photo))))
            let notes = response.trace.entries.compactMap(\.note)
            #expect(notes.contains("decoded \(size)"))
        }
    }
}
