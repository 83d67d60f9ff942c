import Foundation

/// The images in `Tests/Images`.
package enum Pictures {
    /// A file's bytes, such as those of `good/webp-lossy.webp`.
    package static func bytes(_ path: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: URL(filePath: self.path(path))))
    }

    /// Where a file is, or a folder.
    package static func path(_ path: String) -> String { folder.appending(path: path).path }

    private static let folder = Repository.folder.appending(path: "Tests/Images")
}
