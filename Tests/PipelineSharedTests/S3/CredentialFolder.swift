import Foundation

@testable import PipelineShared

/// A folder with the files of the SDKs, which ends with the test.
final class CredentialFolder: Sendable {
    let path = NSTemporaryDirectory() + "pipeline-keys-\(UUID().uuidString.prefix(8))"

    init() throws { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// Variables that lead to the folder's files, and to no service.
    var variables: [String: String] {
        [
            "HOME": path, "AWS_SHARED_CREDENTIALS_FILE": path + "/credentials", "AWS_CONFIG_FILE": path + "/config",
            "AWS_EC2_METADATA_DISABLED": "true",
        ]
    }

    /// Writes a file, whole at once.
    @discardableResult
    func write(_ name: String, _ text: String) throws -> String {
        try text.write(toFile: "\(path)/\(name)", atomically: true, encoding: .utf8)
        return "\(path)/\(name)"
    }

    /// Writes the default profile's keys.
    func write(key: String, secret: String) throws {
        try write("credentials", "[default]\naws_access_key_id = \(key)\naws_secret_access_key = \(secret)\n")
    }
}
