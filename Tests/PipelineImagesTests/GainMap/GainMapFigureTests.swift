import Foundation
import LibC
import Pipeline
import PipelineTesting
import TestFixtures
import Testing

@testable import PipelineImages

@Suite("The figure in the documentation is what a gain map makes")
struct GainMapFigureTests {
    private static let size = PixelSize(width: 200, height: 150)

    /// The sRGB levels of light, two stops darker.
    private static func darker(_ light: SIMD3<Double>) -> [UInt8] {
        [light.x, light.y, light.z].map { ICCConversion.level($0 / 4) }
    }

    /// The base picture, and next to it the same with its map, both two stops darker.
    private func figure() async throws -> DecodedImage {
        let phone = try Pictures.bytes("good/jpeg-ultrahdr-gainmap-mpf.jpg")
        func picture(_ map: GainMapHandling) async throws -> DecodedImage {
            let response = try await SampleImage.load(phone) {
                Decode(gainMap: map)
                Resize(Self.size, fit: .cover)
            }
            return try #require(response.image)
        }
        let (base, made) = (try await picture(.drop), try await picture(.apply))
        let toSRGB = try #require(ColorPrimaries.matrix(from: 9, to: 1))
        let left = base.pixels.map { TransferCurve.sRGB.light(Double($0) / 255) }
        let right = made.samples.map { TransferCurve.pqLight(Double($0) / 65535) * 10_000 / GainMapApplication.white }
        var pixels: [UInt8] = []
        for row in 0..<Self.size.height {
            for (light, matrix) in [(left, Matrix3(diagonal: SIMD3(1, 1, 1))), (right, toSRGB)] {
                for column in 0..<Self.size.width {
                    let start = 3 * (row * Self.size.width + column)
                    pixels += Self.darker(matrix * SIMD3(light[start], light[start + 1], light[start + 2]))
                }
            }
        }
        return DecodedImage(
            size: PixelSize(width: 2 * Self.size.width, height: Self.size.height), layout: .rgb, pixels: pixels)
    }

    @Test("Light above white, which the base picture lacks, is there with the map")
    func shown() async throws {
        let made = try await figure()
        let catalog = Repository.folder.appending(path: "Sources/PipelineImages/Documentation.docc")
        let kept = try? Data(contentsOf: catalog.appending(path: "Resources/gain-map.jpg"))
        var difference = Double.infinity
        if let kept { difference = try await SampleImage.decode([UInt8](kept)).difference(from: made) }
        if difference > 2 {
            // To be looked at, and kept if it is right.
            let path = FileManager.default.temporaryDirectory.appending(path: "gain-map.jpg")
            let response = try await SampleImage.process(made) { Encode(.jpeg, quality: 90) }
            try Data(try #require(response.encoded?.bytes)).write(to: path)
            Issue.record("The figure differs by \(difference): look at \(path.path())")
        }
        #expect(
            try String(contentsOf: catalog.appending(path: "ColorDepthAndHDR.md"), encoding: .utf8)
                .contains("](gain-map)"))
    }
}
