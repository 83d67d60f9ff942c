import Foundation
import Pipeline
import PipelineImages
import PipelineTesting
import TestFixtures
import Testing

@Suite("The pictures in the documentation are what the transforms make")
struct TransformPicturesTests {
    /// Each picture of the page Transforms: its file's name and what makes it of `original.png`.
    static let pictures: [(name: String, transforms: [any Transform])] = [
        ("resize-cover", [Resize(60, fit: .cover)]),
        ("resize-contain", [Resize(80, fit: .contain, background: .black)]),
        ("resize-fill", [Resize(60, fit: .fill)]), ("crop", [Crop(x: 2, y: 4, width: 46, height: 40)]),
        ("crop-focal-point", [Crop(40, focalPoint: (x: 0.9, y: 0.8))]), ("crop-entropy", [Crop(40, by: .entropy)]),
        ("crop-attention", [Crop(40, by: .attention)]), ("trim", [Pad(top: 9, left: 20, right: 5), Trim()]),
        ("pad", [Pad(top: 6, left: 6, bottom: 18, right: 6, color: Color(red: 240, green: 230, blue: 200))]),
        ("rotate", [Rotate(.quarter)]), ("flip", [Flip(.horizontal)]), ("round-corners", [RoundCorners(radius: 16)]),
        ("circle", [CropCircle()]), ("blur", [Blur(sigma: 2)]), ("sharpen", [Sharpen(1.5)]),
        ("greyscale", [Grayscale()]),
        ("adjust-brightness", [Adjust(brightness: 1.6)]), ("adjust-saturation", [Adjust(saturation: 2.5)]),
        ("adjust-hue", [Adjust(hue: 120)]),
        ("composite", [Composite(.filled(14, with: [255, 120, 0, 255]), offset: (x: -4, y: -4), opacity: 0.7)]),
        ("flatten", [RoundCorners(radius: 16), Flatten(Color(red: 40, green: 90, blue: 160))]),
    ]

    private static let catalog = Repository.folder.appending(path: "Sources/PipelineImages/Documentation.docc")

    private func kept(_ name: String) async throws -> DecodedImage {
        let file = Self.catalog.appending(path: "Resources/\(name).png")
        return try await SampleImage.decode([UInt8](try Data(contentsOf: file)))
    }

    @Test("Each picture is what its transforms make of the original", arguments: pictures.map(\.name))
    func picture(_ name: String) async throws {
        var image = try await kept("original")
        for transform in try #require(Self.pictures.first { $0.name == name }).transforms {
            image = try await transform.apply(image)
        }
        // To be looked at where it differs, and kept if it is right.
        let response = try await SampleImage.process(image) { Encode(.png) }
        let path = FileManager.default.temporaryDirectory.appending(path: "transform-pictures/\(name).png")
        let difference = try? await kept(name).difference(from: image)
        guard let difference, difference < 0.3 else {
            try FileManager.default.createDirectory(
                at: path.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(response.encoded?.bytes ?? []).write(to: path)
            Issue.record("\(name) differs by \(difference.map { "\($0)" } ?? "everything"): look at \(path.path())")
            return
        }
    }

    @Test("The page shows every picture, and every picture is small")
    func page() throws {
        let page = try String(contentsOf: Self.catalog.appending(path: "Transforms.md"), encoding: .utf8)
        for name in Self.pictures.map(\.name) + ["original"] {
            #expect(page.contains("](\(name))"))
            let file = Self.catalog.appending(path: "Resources/\(name).png")
            #expect(try Data(contentsOf: file).count <= 20_000)
        }
    }
}
