import Foundation
import Pipeline
import PipelineImages
import TestFixtures
import Testing

@Suite("Every good file comes out as another program decodes it")
struct DecodeReferenceTests {
    /// The names of the references, which `Scripts/references.py` makes with Pillow and LittleCMS.
    static let names: [String] = {
        let files = (try? FileManager.default.contentsOfDirectory(atPath: Pictures.path("references"))) ?? []
        return files.map { String($0.dropLast(4)) }.sorted()
    }()

    @Test("There is a reference for every good file of a format that is decoded by default")
    func complete() throws {
        let files = try SampleImage.manifest("good").map(\.name)
        #expect(Set(Self.names).isSuperset(of: files.filter { !$0.hasSuffix(".svg") && !$0.hasSuffix(".jxl") }))
    }

    @Test("It has the reference's pixels, in each frame", arguments: names)
    func reference(_ name: String) async throws {
        let bytes = try (try? Pictures.bytes("good/\(name)")) ?? Pictures.bytes("generated/\(name)")
        let image = try await SampleImage.decode(bytes, with: Decode(limits: ImageLimits(frames: 100)))
        let reference = try await SampleImage.decode(try Pictures.bytes("references/\(name).png"))
        let means = Means(of: image)
        #expect(means.columns == reference.width)
        #expect(means.rows == reference.height)
        let expected = Means.rgba(reference).map(Double.init)
        try #require(means.values.count == expected.count)
        let difference = zip(means.values, expected).reduce(0) { $0 + abs($1.0 - $1.1) } / Double(expected.count)
        #expect(difference < 2, "\(name) differs by \(difference)")
    }
}

/// The means of square blocks of premultiplied pixels, of all frames one below the other.
private struct Means {
    let columns: Int
    var rows = 0
    var values: [Double] = []

    init(of image: DecodedImage) {
        let side = (max(image.width, image.height) + 127) / 128
        columns = image.width / side
        for frame in image.frames {
            let still = DecodedImage(size: image.size, layout: image.layout, pixels: frame.pixels)
            let pixels = Self.rgba(still)
            for row in 0..<image.height / side {
                for column in 0..<columns {
                    var sums = [0.0, 0, 0, 0]
                    for y in row * side..<(row + 1) * side {
                        for x in column * side..<(column + 1) * side {
                            let start = (y * image.width + x) * 4
                            let alpha = Double(pixels[start + 3])
                            for channel in 0..<3 { sums[channel] += Double(pixels[start + channel]) * alpha / 255 }
                            sums[3] += alpha
                        }
                    }
                    values += sums.map { $0 / Double(side * side) }
                }
            }
            rows += image.height / side
        }
    }

    /// Four channels, whatever the layout.
    static func rgba(_ image: DecodedImage) -> [UInt8] {
        let channels = image.layout.channelCount
        var result: [UInt8] = []
        result.reserveCapacity(image.width * image.height * 4)
        for start in stride(from: 0, to: image.pixels.count, by: channels) {
            for channel in 0..<3 { result.append(image.pixels[start + min(channel, channels - 1)]) }
            result.append(channels == 4 ? image.pixels[start + 3] : 255)
        }
        return result
    }
}
