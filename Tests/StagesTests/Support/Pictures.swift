import Foundation
/// The test images of this target's bundle.
enum Pictures {
    static func bytes(_ path: String) throws -> [UInt8] {
        let folder = Bundle.module.bundlePath
        return [UInt8](try Data(contentsOf: URL(filePath: "\(folder)/Images/\(path)")))
    }

    static func path(_ path: String) -> String { "\(Bundle.module.bundlePath)/Images/\(path)" }
}
