import Foundation
import Pipeline
import PipelineTesting
import Stages
import TestFixtures
import Testing

@testable import PipelineImages

@Suite("A list has one set of codecs, its loader's", .timeLimit(.minutes(5)))
struct ListCodecsTests {
    /// Stands for another process: notes what it is asked for. No other codec knows its files, which begin with `far`.
    private final class Far: RemoteDecoding {
        static let format = ImageFormat(rawValue: "image/x-far")
        static let bytes = Array("far away".utf8)
        let asked = Lock<[String]>([])
        var showsBeginnings: Bool { true }
        var isFullyConfined: Bool? { nil }

        private func note(_ call: String) { asked.withLock { $0.append(call) } }

        func header(of bytes: [UInt8], cancellation: WorkCancellation) throws -> ImageHeader {
            note("header")
            return ImageHeader(format: Self.format, storedSize: PixelSize(square: 2))
        }

        func decode(
            _ bytes: [UInt8], header: ImageHeader, box: PixelSize?, options: DecodeOptions,
            cancellation: WorkCancellation
        ) throws -> DecodedImage {
            note(options.allowTruncated ? "preview" : "decode")
            return DecodedImage(size: PixelSize(square: 2), layout: .gray, pixels: [1, 2, 3, 4])
        }

        func description(of bytes: [UInt8], cancellation: WorkCancellation) throws -> ImageMetadata {
            throw CancellationError()
        }

        func blocks(
            _ kept: KeptMetadata, of bytes: [UInt8], for size: PixelSize, isGray: Bool, cancellation: WorkCancellation
        ) throws -> EmbeddedMetadata {
            note("metadata")
            return EmbeddedMetadata()
        }

        func stripped(
            _ bytes: [UInt8], of metadata: StrippedMetadata, cancellation: WorkCancellation
        ) throws -> [UInt8] { bytes }

        /// The only format, confined.
        var codecs: ImageCodecs {
            [ImageCodec(Self.format, extensions: ["far"], decoder: self) { $0.starts(with: "far".utf8) }]
        }
    }

    private let far = Far()

    private func resources(_ codecs: ImageCodecs) -> PipelineResources {
        PipelineResources(
            memory: MemoryCache(), responses: HTTPCache(inMemory: 1_000_000),
            client: CurlClient(.local), codecs: codecs)
    }

    /// Delivers the file, and shows a part of it on the way.
    private var source: ClosureStage {
        ClosureStage("Deliver", accepts: .empty, produces: .original) { load in
            load.attachment(ArrivingBytes.self)?.show(Far.bytes, of: load)
            while !far.asked.withLock({ $0.contains("preview") }), load.isWatched { await Task.yield() }
            load.advance(to: .original(EncodedImage(bytes: Far.bytes)), from: .inline)
            return .done
        }
    }

    /// A list whose stages name no codecs.
    @ChainBuilder private var stages: Chain {
        Preview(minimumBytes: 1) { source }
        CheckHeader()
        Decode()
        Encode(.png, options: EncodeOptions(metadata: .all))
    }

    private let everything = ["preview", "header", "decode", "metadata"]

    private func isEverything(_ asked: [String]) -> Bool { everything.allSatisfy(asked.contains) }

    @Test("Stages that name none use those that another stage of the list was made with")
    func inherited() async throws {
        let list = ImagePipeline {
            stages
            CheckContent(codecs: far.codecs)
        }
        let written = try await list.load(ImageRequest(.bytes([1]))) { _ in }.encoded
        #expect(written?.declaredType == "image/png")
        #expect(isEverything(far.asked.withLock(\.self)))
    }

    /// A stage at the end of the list that names the codecs.
    private struct CheckContent: CodecStage {
        let codecs: ImageCodecs
        let accepts: Phases = .encoded
        let produces: Phases = .encoded
        var ownCodecs: (any CodecSet)? { codecs }
        func run(_ load: inout Load) async throws -> Outcome { .skipped }
    }

    @Test("They use the loader's in its lists, in edits of these, and in a list that it is given")
    func loaders() async throws {
        let resources = resources(far.codecs)
        let loader = try ImageLoader(resources) { policy, resources in
            ImagePipeline(clock: resources.clock) { stages }
        }
        let arranged = loader.pipeline(for: .standard)
        for list in [arranged, ImagePipeline { stages }] {
            far.asked.withLock { $0 = [] }
            _ = try await loader.load(ImageRequest(.bytes([1])), through: list) { _ in }
            #expect(isEverything(far.asked.withLock(\.self)))
        }
        let edited = ImagePipeline.ignoreCache(resources).inserting(CheckHeader(), before: Decode.self)
            .replacing(Fetch.self, with: Preview(minimumBytes: 1) { source })
        far.asked.withLock { $0 = [] }
        _ = try await edited.load(ImageRequest(URL(string: "http://127.0.0.1:1/a")!)) { _ in }
        #expect(["preview", "header", "decode"].allSatisfy(far.asked.withLock(\.self).contains))
    }

    @Test("A stage of one's own finds them in the load")
    func ownStage() async throws {
        let found = Lock<[ImageFormat]>([])
        let look = ClosureStage("Look", accepts: .original, produces: .original) { load in
            let size = try await load.header(limits: ImageLimits()).size
            found.withLock { $0 = load.codecs.codecs.map(\.format) + (size.width == 2 ? [.png] : []) }
            return .done
        }
        let list = ImagePipeline {
            source
            look
            Decode(codecs: far.codecs)
        }
        _ = try await list.load(ImageRequest(.bytes([1])))
        #expect(found.withLock(\.self) == [Far.format, .png])
    }

    @Test("Where nobody names any, they are the standard ones, and a list that can't write a format uses those")
    func standard() async throws {
        let png = Picture.png(PixelSize(square: 3))
        let list = ImagePipeline {
            ReadInline()
            CheckHeader()
            Decode()
            Encode(.webp)
        }
        #expect(try await list.load(ImageRequest(.bytes(png))).encoded?.declaredType == "image/webp")
        let narrow = ImagePipeline {
            ReadInline()
            Decode(codecs: [.png])
            Encode(.webp)
        }
        #expect(try await narrow.load(ImageRequest(.bytes(png))).encoded?.declaredType == "image/webp")
    }

    private static let plain: [any Stage] = [
        CheckHeader(codecs: .standard), Preview(codecs: .standard) { ReadInline() },
    ]

    @Test("A list that decodes by confined and by plain codecs is refused, and both stages are named", arguments: 0..<2)
    func mixture(_ index: Int) throws {
        let stage = Self.plain[index]
        let confined: [any Stage] = [ReadInline(), Decode(codecs: far.codecs)]
        let place = stage.accepts.contains(.empty) ? 0 : stage.accepts.contains(.decoded) ? 2 : 1
        var stages = confined
        stages.insert(stage, at: place)
        let error = try #require(throws: LoadError.self) { try ImagePipeline(validating: Chain(stages)) }
        #expect(error.code == .stageContract)
        #expect(error.message.hasPrefix("Decode decodes in confined processes, and \(stage.name) "), "\(error.message)")
        #expect(throws: Never.self) { try ImagePipeline(validating: Chain(confined + [Encode(.png)])) }
    }

    @Test("Codecs of a stage that only looks at formats or encodes may differ, and decode nothing")
    func formatsAlone() async throws {
        let list = try ImagePipeline(
            validating: Chain {
                Preview(minimumBytes: 1) { source }
                CheckContentType(codecs: .standard)
                CheckHeader(codecs: far.codecs)
                Decode()
                Encode(.png, codecs: .standard)
            })
        _ = try await list.load(ImageRequest(.bytes([1]))) { _ in }
        #expect(["preview", "header", "decode"].allSatisfy(far.asked.withLock(\.self).contains))
    }

    @Test("A picture from a file is laid over in its own list's codecs")
    func overlay() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/logo.far"
        try Data(Far.bytes).write(to: URL(filePath: path))
        let composite = try Composite(file: path, codecs: far.codecs)
        #expect(far.asked.withLock(\.self) == ["header", "decode"])
        let error = try #require(throws: LoadError.self) {
            try ImagePipeline(
                validating: Chain {
                    ReadInline()
                    Decode(codecs: .standard)
                    composite
                })
        }
        #expect(error.message.hasPrefix("Composite decodes in confined processes, and Decode "))
    }

    @Test("A loader refuses a list with codecs of another kind than its own, whether arranged or given")
    func refused() async throws {
        let resources = resources(far.codecs)
        let plain = ImagePipeline {
            ReadInline()
            Decode(codecs: .standard)
        }
        let error = #expect(throws: LoadError.self) { _ = try ImageLoader(resources) { _, _ in plain } }
        #expect(error?.message.contains("The loader decodes in confined processes, and Decode ") == true)
        let loader = ImageLoader(resources)
        let late = await #expect(throws: LoadError.self) {
            _ = try await loader.load(ImageRequest(.bytes([1])), through: plain)
        }
        #expect(late?.code == .stageContract)
    }
}
