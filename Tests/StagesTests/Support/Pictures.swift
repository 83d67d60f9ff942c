import Foundation
import Pipeline
import Testing

/// The test images of this target's bundle.
enum Pictures {
    static func bytes(_ path: String) throws -> [UInt8] {
        let folder = Bundle.module.bundlePath
        return [UInt8](try Data(contentsOf: URL(filePath: "\(folder)/Images/\(path)")))
    }

    static func path(_ path: String) -> String { "\(Bundle.module.bundlePath)/Images/\(path)" }

    /// A still image of one colour.
    static func plain(_ width: Int, _ height: Int) -> DecodedImage {
        DecodedImage(
            size: PixelSize(width: width, height: height), layout: .rgb,
            pixels: [UInt8](repeating: 127, count: width * height * 3))
    }
}
