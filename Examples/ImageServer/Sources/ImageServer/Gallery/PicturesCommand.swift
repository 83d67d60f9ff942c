import ArgumentParser
import Foundation
import PipelineIsolation
import PipelineServer
import Stages

/// Makes a folder of pictures for the gallery, out of photographs and of drawings.
struct PicturesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pictures", abstract: "Makes a folder of pictures: copies photographs, and renders drawings.")

    @Argument(help: "The folder, which is made if it is missing.")
    var folder: String

    @Argument(help: "Files to copy, or NAME=FILE to rename one. A drawing NAME.FORMAT.svg is rendered as NAME.FORMAT.")
    var files: [String]

    mutating func run() async throws {
        let target = URL(fileURLWithPath: folder, isDirectory: true)
        try FileManager.default.createDirectory(at: target, withIntermediateDirectories: true)
        let codecs = try ImageCodecs.standard.adding(.svg).isolated(in: await DecoderPool(limits: ImageLimits()))
        for file in files {
            let parts = file.split(separator: "=", maxSplits: 1)
            let source = URL(fileURLWithPath: String(parts.last ?? ""))
            let name = parts.count == 2 ? String(parts[0]) : source.lastPathComponent
            let isDrawing = name.hasSuffix(".svg")
            let made = target.appending(path: isDrawing ? String(name.dropLast(4)) : name)
            guard !FileManager.default.fileExists(atPath: made.path) else { continue }
            let bytes = try isDrawing ? await Self.render(source, as: made, codecs) : Data(contentsOf: source)
            try bytes.write(to: made)
        }
        print("\(files.count) pictures in \(folder)")
    }

    private static func render(_ drawing: URL, as made: URL, _ codecs: ImageCodecs) async throws -> Data {
        let format = try PictureRequest.format(made.pathExtension)
        let list = ImagePipeline {
            ReadFile()
            Decode(codecs: codecs)
            Encode(format, quality: 88)
        }
        return Data(try await list.load(ImageRequest(drawing)).encoded?.bytes ?? [])
    }
}
