import Foundation

/// Two authorities of a test's own, in a temporary folder that ends with the test.
///
/// `authority` has signed `server` and `expired`, which are for `localhost` and 127.0.0.1, `named`, which is for
/// `cache.internal`, and `client`. `stranger` has signed `intruder`.
package final class Certificates: Sendable {
    private static let program = "/usr/bin/openssl"
    package static var isAvailable: Bool { FileManager.default.isExecutableFile(atPath: program) }

    private let folder: String

    /// Makes the certificates.
    package init() throws {
        folder = NSTemporaryDirectory() + "pipeline-certificates-\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        for name in ["authority", "stranger"] { try run("req -x509 -days 2 \(Self.new(name)) -out \(name).pem") }
        let here = "DNS:localhost,IP:127.0.0.1"
        try issue("server", for: here)
        try issue("expired", for: here, days: -1)
        try issue("named", for: "DNS:cache.internal")
        try issue("client", for: "DNS:client")
        try issue("intruder", for: "DNS:client", by: "stranger")
        try run("pkey -in client.key -aes256 -passout pass:secret -out locked.key")
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    /// The path of a certificate's file.
    package func certificate(_ name: String) -> String { "\(folder)/\(name).pem" }

    /// The path of the file with a certificate's key.
    package func key(_ name: String) -> String { "\(folder)/\(name).key" }

    private func issue(_ name: String, for names: String, by authority: String = "authority", days: Int = 2) throws {
        try run("req \(Self.new(name)) -addext subjectAltName=\(names) -out \(name).csr")
        try run(
            "x509 -req -in \(name).csr -CA \(authority).pem -CAkey \(authority).key -days \(days) -copy_extensions copy "
                + "-out \(name).pem")
    }

    /// The options for a new key, which is stored.
    private static func new(_ name: String) -> String {
        "-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=\(name) -keyout \(name).key"
    }

    private func run(_ arguments: String) throws {
        let process = Process()
        process.executableURL = URL(filePath: Self.program)
        process.currentDirectoryURL = URL(filePath: folder)
        process.arguments = arguments.split(separator: " ").map(String.init)
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw RedisServer.Failure(said: "openssl \(arguments) failed") }
    }
}
