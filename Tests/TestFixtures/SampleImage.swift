package import Pipeline
package import PipelineImages
import Testing

/// The pictures in the folder Images, and what they are loaded with.
package enum SampleImage {
    /// The manifest's rows for one of the two folders: name without the folder, column by column.
    package static func manifest(_ folder: String) throws -> [(name: String, columns: [String])] {
        String(decoding: try Pictures.bytes("MANIFEST.tsv"), as: UTF8.self).split(separator: "\n").compactMap { line in
            let columns = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
            let parts = columns[0].split(separator: "/")
            return parts.count == 2 && parts[0] == folder ? (String(parts[1]), columns) : nil
        }
    }

    /// Loads bytes through a list of stages.
    package static func load(
        _ bytes: [UInt8], maxPixelSize: PixelSize? = nil, @ChainBuilder _ stages: () -> Chain
    ) async throws -> LoadResponse {
        var request = ImageRequest(.bytes(bytes))
        request.maxPixelSize = maxPixelSize
        let chain = Chain([Supply(content: .original(EncodedImage(bytes: bytes)))] + stages().stages)
        return try await ImagePipeline(validating: chain).load(request)
    }

    /// Decodes bytes with `Decode` alone.
    package static func decode(
        _ bytes: [UInt8], maxPixelSize: PixelSize? = nil, with stage: Decode = Decode()
    ) async throws -> DecodedImage {
        try #require(try await load(bytes, maxPixelSize: maxPixelSize) { stage }.image)
    }

    /// Takes pixels through a list of stages.
    package static func process(
        _ image: DecodedImage, maxPixelSize: PixelSize? = nil, @ChainBuilder _ stages: () -> Chain
    ) async throws -> LoadResponse {
        var request = ImageRequest(.bytes([]))
        request.maxPixelSize = maxPixelSize
        return try await ImagePipeline(validating: Chain([Supply(content: .decoded(image))] + stages().stages))
            .load(request)
    }
}

/// Begins a list with what a test has at hand.
private struct Supply: Stage {
    let content: LoadContent
    let accepts: Phases = .empty
    var produces: Phases { Phases(content.phase) }

    func run(_ load: inout Load) async throws -> Outcome {
        load.advance(to: content, from: .inline)
        return .done
    }
}

extension DecodedImage.Frame {
    /// The bytes of a picture in 8-bit sRGB, as all decoders make it.
    package var pixels: [UInt8] { bytes }
}

extension DecodedImage {
    /// The first frame's pixels.
    package var pixels: [UInt8] { frames[0].pixels }

    /// The mean of each channel of the first frame.
    package var means: [Double] {
        let channels = layout.channelCount
        var sums = [Int](repeating: 0, count: channels)
        for (index, value) in pixels.enumerated() { sums[index % channels] += Int(value) }
        return sums.map { Double($0) / Double(size.width * size.height) }
    }

    /// The mean absolute difference of the first frames; infinite if size or layout differ.
    package func difference(from other: DecodedImage) -> Double {
        guard size == other.size, layout == other.layout else { return .infinity }
        return Double(zip(pixels, other.pixels).reduce(0) { $0 + abs(Int($1.0) - Int($1.1)) }) / Double(pixels.count)
    }

    /// The channels of a pixel.
    package func pixel(_ x: Int, _ y: Int) -> [Int] {
        let start = (y * width + x) * layout.channelCount
        return pixels[start..<start + layout.channelCount].map(Int.init)
    }
}
