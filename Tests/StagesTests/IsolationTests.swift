import Foundation
import PipelineImages
import PipelineTesting
import TestFixtures
import Testing

@testable import Pipeline
@testable import Stages

@Suite("Where a loader decodes")
struct IsolationTests {
    private let site: Site

    init() throws { site = try Site() }

    private func areRemote(_ codecs: ImageCodecs) -> [Bool] { codecs.codecs.map { $0.decoder.remote != nil } }

    @Test("is in confined processes unless told otherwise, and pixels are the same")
    func standard() async throws {
        var resources = site.resources()
        #expect(!areRemote(resources.codecs).contains(false))
        let source = ImageSource.bytes(try Pictures.bytes("good/jpeg-greyscale.jpg"))
        let confined = try await ImageLoader(resources).load(source).image
        resources.isolation = .none
        #expect(!areRemote(resources.codecs).contains(true))
        #expect(try await ImageLoader(resources).load(source).image == confined)
    }

    @Test("is one pool for all loaders with the same limits, so that they share work")
    func shared() throws {
        let (first, second) = (site.resources(), site.resources())
        #expect(zip(first.codecs.codecs, second.codecs.codecs).allSatisfy { $0 === $1 })
        var larger = site.resources()
        larger.limits.pixels *= 2
        #expect(!zip(first.codecs.codecs, larger.codecs.codecs).contains { $0 === $1 })
    }

    @Test("is this process for a format of another module, and confined ones for the others")
    func mixed() throws {
        var resources = site.resources()
        resources.codecs = .standard.adding(
            ImageCodec(
                ImageFormat(rawValue: "image/x-test"), extensions: ["test"], decoder: NoDecoder()
            ) { $0.starts(with: "test".utf8) })
        #expect(
            areRemote(resources.codecs) == Array(repeating: true, count: ImageCodecs.standard.codecs.count) + [false])
    }

    @Test("is what a stage uses whose own codecs only name formats or encode")
    func formatsAlone() async throws {
        let bytes = try Pictures.bytes("good/jpeg-greyscale.jpg")
        let resources = site.resources()
        let list = ImagePipeline {
            ReadInline()
            CheckContentType(codecs: .standard, accepting: [.jpeg])
            Decode()
            Encode(.png, codecs: .standard)
        }
        let request = ImageRequest(.bytes(bytes))
        let used = list.used(in: ListCodecs(resources.codecs))
        #expect(used.isConfined == true)
        #expect(try await ImageLoader(resources).load(request, through: list).encoded?.declaredType == "image/png")
    }

    @Test("is never this process for a stage that decodes by codecs of its own: the load says what to change")
    func mixture() async throws {
        let list = ImagePipeline {
            ReadInline()
            Decode(codecs: .standard)
        }
        let request = ImageRequest(.bytes(try Pictures.bytes("good/jpeg-greyscale.jpg")))
        var resources = site.resources()
        let error = await failure(.stageContract) { [resources] in
            try await ImageLoader(resources).load(request, through: list)
        }
        #expect(error?.message.contains("isolation: .none") == true)
        resources.isolation = .none
        #expect(try await ImageLoader(resources).load(request, through: list).image != nil)
    }

    @Test("makes no difference to a box without bounds, nor to any number of frames")
    func largestNumbers() async throws {
        var resources = site.resources()
        resources.limits.frames = .max
        let loader = ImageLoader(resources)
        let source = ImageSource.bytes(try Pictures.bytes("good/gif-animated.gif"))
        let boxed = LoadOptions(maxPixelSize: PixelSize(width: .max, height: .max))
        #expect(try await loader.load(source, options: boxed).image == loader.load(source).image)
    }

    @Test("includes the formats that are only decoded in processes of their own, once they are added")
    func risky() async throws {
        var resources = site.resources()
        resources.codecs = .standard.adding(.svg)
        let svg = Array(#"<svg xmlns="http://www.w3.org/2000/svg" width="8" height="4"/>"#.utf8)
        #expect(try await ImageLoader(resources).load(.bytes(svg)).image.size == PixelSize(width: 8, height: 4))
    }
}

/// Decodes nothing.
private struct NoDecoder: ImageDecoding {
    func header(of bytes: [UInt8], cancellation: WorkCancellation) throws -> ImageHeader {
        throw LoadError(.undecodable, subject: "", "It is never called.")
    }

    func decode(
        _ bytes: [UInt8], header: ImageHeader, box: PixelSize?, options: DecodeOptions, cancellation: WorkCancellation
    ) throws -> DecodedImage {
        throw LoadError(.undecodable, subject: "", "It is never called.")
    }
}
