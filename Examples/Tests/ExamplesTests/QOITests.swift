import Foundation
import Pipeline
import PipelineFile
import PipelineTesting
import QOI
import Stages
import Testing

@Suite("A format from outside of the library")
final class QOITests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "examples-\(UUID().uuidString)")
    private let resources: PipelineResources

    init() throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        resources = PipelineResources(
            memory: MemoryCache(), responses: HTTPCache(folder: folder.appending(path: "cache").path),
            client: CurlClient(.init(addresses: .any)), codecs: .standard.adding(.qoi))
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// Runs of one colour, slopes and noise: every kind of chunk.
    private func picture(_ layout: PixelLayout) -> DecodedImage {
        let size = PixelSize(width: 67, height: 31)
        let count = size.width * size.height * layout.channelCount
        let pixels = (0..<count).map { index -> UInt8 in
            let row = index / (size.width * layout.channelCount)
            let noise = UInt8(truncatingIfNeeded: index &* 2_654_435_761 >> 13)
            return row < 8 ? 40 : row < 20 ? UInt8(truncatingIfNeeded: index / 3) : noise
        }
        return DecodedImage(size: size, layout: layout, pixels: pixels)
    }

    private func file(_ image: DecodedImage, _ options: EncodeOptions = EncodeOptions()) async throws -> [UInt8] {
        let supply = StubStage("Supply", accepts: .empty, produces: .decoded) { load in
            load.advance(to: .decoded(image), from: .inline)
            return .done
        }
        let list = ImagePipeline {
            supply
            Encode(.qoi, options: options, codecs: resources.codecs)
        }
        return try #require(try await list.load(ImageRequest(.bytes([]))).encoded).bytes
    }

    private func decoded(_ bytes: [UInt8], _ decode: Decode) async throws -> DecodedImage {
        let list = ImagePipeline {
            ReadInline()
            decode
        }
        return try #require(try await list.load(ImageRequest(.bytes(bytes))).image)
    }

    @Test("keeps every pixel", arguments: [PixelLayout.gray, .rgb, .rgba])
    func exact(_ layout: PixelLayout) async throws {
        let image = picture(layout)
        let again = try await decoded(try await file(image), Decode(codecs: resources.codecs))
        #expect(again.size == image.size)
        #expect(again.layout == (layout == .gray ? .rgb : layout))
        try image.withPixels { expected in
            try again.withPixels { found in
                let pixels = layout == .gray ? expected.flatMap { [$0, $0, $0] } : Array(expected)
                #expect(Array(found) == pixels)
            }
        }
    }

    @Test("has options of its own, which are part of a list's signature")
    func options() async throws {
        var options = EncodeOptions()
        let plain = Encode(.qoi, options: options, codecs: resources.codecs)
        options.qoi.hasAlpha = false
        let opaque = Encode(.qoi, options: options, codecs: resources.codecs)
        #expect(plain.signature == "encode(image/qoi, quality: 80)")
        #expect(opaque.signature == "encode(image/qoi, quality: 80, alpha: false)")
        // A plan shows no quality for a format that has none.
        #expect(plain.parameters == "image/qoi")
        let bytes = try await file(picture(.rgba), options)
        #expect(try await decoded(bytes, Decode(codecs: resources.codecs)).layout == .rgb)
        #expect(Encode(.png, options: options).signature == Encode(.png).signature)
    }

    @Test("is loaded by an ImageLoader, over the network and from disk")
    func loader() async throws {
        let bytes = try await file(picture(.rgb))
        let origin = try ScriptedOrigin { _ in
            .init(headers: [.contentType: "image/x-qoi", .cacheControl: "max-age=60"], body: bytes)
        }
        let loader = ImageLoader(resources)
        let image = try await loader.load(origin.url("/a.qoi"), options: LoadOptions(maxPixelSize: 40)).image
        #expect(image.width == 40)
        #expect(image.nativeSize == PixelSize(width: 67, height: 31))
        await loader.shutdown()
        let path = folder.appending(path: "a.qoi")
        try Data(bytes).write(to: path)
        let local = ImageLoader(resources)
        #expect(try await local.load(path).image.size == image.nativeSize)
        await local.shutdown()
    }

    @Test("is read and written by a pipeline in a file")
    func yaml() async throws {
        let yaml = """
            - readInline
            - decode
            - resize: 20
            - encode: {format: qoi}
            """
        let list = try PipelineDocument(yaml).pipeline(.standard(resources))
        let bytes = try await file(picture(.rgba))
        let result = try #require(try await list.load(ImageRequest(.bytes(bytes))).encoded)
        #expect(result.declaredType == "image/qoi")
        #expect(try await decoded(result.bytes, Decode(codecs: resources.codecs)).width == 20)
    }

    @Test("is refused by its first bytes where it isn't chosen")
    func refused() async throws {
        let bytes = try await file(picture(.rgb))
        let error = try await #require(throws: LoadError.self) { try await decoded(bytes, Decode()) }
        #expect(error.code == .unsupportedType)
    }

    @Test("gives an error or a picture, whatever the bytes are")
    func damaged() async throws {
        let bytes = try await file(picture(.rgba))
        let decode = Decode(codecs: resources.codecs)
        for count in [4, 13, 14, bytes.count / 2] {
            let error = try await #require(throws: LoadError.self) {
                try await decoded(Array(bytes.prefix(count)), decode)
            }
            #expect(error.code == .undecodable)
        }
        let half = Array(bytes.prefix(bytes.count / 2))
        let part = try await decoded(half, Decode(codecs: resources.codecs, allowTruncated: true))
        #expect(part.size == PixelSize(width: 67, height: 31))
        let huge = Array(bytes[..<4]) + [UInt8](repeating: 255, count: 8) + [4, 0]
        let error = try await #require(throws: LoadError.self) { try await decoded(huge, decode) }
        #expect(error.code == .tooManyPixels)
    }

    @Test("is known to the command by its name, its extension and its bytes")
    func command() async throws {
        let bytes = try await file(picture(.rgb))
        try Data(bytes).write(to: folder.appending(path: "a.qoi"))
        try Data(bytes).write(to: folder.appending(path: "nameless"))
        #expect(try await run("thumb", "a.qoi", "-s", "20", "-o", "b.png").status == 0)
        let png = [UInt8](try Data(contentsOf: folder.appending(path: "b.png")))
        #expect(try await decoded(png, Decode()).width == 20)
        #expect(try await run("thumb", "b.png", "-s", "10", "-f", "qoi", "-o", "{name}-small.{ext}").status == 0)
        let small = [UInt8](try Data(contentsOf: folder.appending(path: "b-small.qoi")))
        #expect(try await decoded(small, Decode(codecs: resources.codecs)).width == 10)
        #expect(try await run("convert", "nameless", "c.webp").status == 0)
        #expect(try await run("info", "a.qoi").output.contains("67×31, qoi"))
        let doctor = try await run("doctor").output
        #expect(doctor.split(separator: "\n").contains { $0.contains("qoi") && $0.contains("read, write") })
        try Data("- readFile\n- decode\n- encode: qoi".utf8).write(to: folder.appending(path: "list.yaml"))
        #expect(try await run("plan", "--pipeline", "list.yaml").output.contains("Encode(image/qoi"))
        #expect(try await run("run", "a.qoi", "--pipeline", "list.yaml", "-o", "d.qoi").status == 0)
        let help = try await run("thumb", "--help").output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        #expect(help.contains("gif, tif or qoi"))
    }

    @Test("has a command with a stage and a name of its own, in --ops, --pipeline, help, completions and messages")
    func ownStage() async throws {
        let white = DecodedImage(size: 4, layout: .rgb, pixels: [UInt8](repeating: 0, count: 48))
        try Data(try await file(white)).write(to: folder.appending(path: "a.qoi"))
        #expect(try await run("run", "a.qoi", "--ops", "duotone=#224466", "-o", "b.png").status == 0)
        let colors = try await decoded([UInt8](try Data(contentsOf: folder.appending(path: "b.png"))), Decode())
        #expect(try colors.withPixels { Array($0.prefix(3)) } == [0x22, 0x44, 0x66])
        try Data("- readFile\n- decode\n- duotone: \"#224466\"\n- encode: qoi".utf8)
            .write(to: folder.appending(path: "list.yaml"))
        #expect(try await run("run", "a.qoi", "--pipeline", "list.yaml", "-o", "c.qoi").status == 0)
        #expect(try await run("plan", "--pipeline", "list.yaml").output.contains("Duotone"))
        #expect(try await run("help", "stages", "duotone").output.contains("a dark colour and white"))
        let mistake = try await run("run", "a.qoi", "--ops", "duoton=#224466", "-o", "d.png")
        #expect(mistake.status == 2 && mistake.output.contains("Did you mean duotone?"))
        let missing = try await run("thumb", "missing.qoi", "-s", "4", "-o", "e.png")
        #expect(missing.status == 1 && missing.output.hasPrefix("qoictl: "))
        for words in [
            ["--help"], ["-h"], ["thumb", "--help"], ["run", "-h"], ["cache", "prune", "--help"], ["nonsense"],
            ["run", "--wrong"], ["doctor"], ["--print-config"], ["help", "stages"], ["help", "stages", "--as", "man"],
            ["--generate-completion-script", "bash"], ["--generate-completion-script", "zsh"],
            ["--generate-completion-script", "fish"], ["--experimental-dump-help"], ["fetch", "--help"],
        ] {
            let output = try await run(words).output
            #expect(!output.lowercased().contains("pipectl"), "\(words): \(output)")
        }
        #expect(try await run("--help").output.contains("qoictl"))
        #expect(try await run("--generate-completion-script", "fish").output.contains("duotone"))
        let setting = folder.appending(path: "qoictl")
        try FileManager.default.createDirectory(at: setting, withIntermediateDirectories: true)
        try Data("format: qoi".utf8).write(to: setting.appending(path: "config.yaml"))
        #expect(try await run("--print-config").output.contains("format: qoi"))
    }

    private func run(_ arguments: String...) async throws -> (status: Int32, output: String) {
        try await run(arguments)
    }

    /// Runs the example's command, which lies next to the tests that were built with it.
    private func run(_ arguments: [String]) async throws -> (status: Int32, output: String) {
        let process = Process()
        process.executableURL = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
            .appending(path: "QOICommand")
        process.arguments = arguments
        process.currentDirectoryURL = folder
        process.environment = ProcessInfo.processInfo.environment.merging([
            "XDG_CACHE_HOME": folder.path, "XDG_CONFIG_HOME": folder.path,
        ]) { $1 }
        let output = Pipe()
        process.standardOutput = output
        process.standardError = output
        process.standardInput = FileHandle.nullDevice
        let ended = AsyncStream<Void> { continuation in process.terminationHandler = { _ in continuation.finish() } }
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        for await _ in ended {}
        return (process.terminationStatus, text)
    }
}
