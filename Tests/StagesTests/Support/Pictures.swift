import Foundation

/// The test images of this target's bundle.
enum Pictures {
    /// A file's bytes, such as those of `good/webp-lossy.webp`.
    static func bytes(_ path: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: URL(filePath: self.path(path))))
    }

    /// Where a file is.
    static func path(_ path: String) -> String { "\(Bundle.module.bundlePath)/Images/\(path)" }
}
