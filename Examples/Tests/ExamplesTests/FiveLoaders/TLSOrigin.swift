import Foundation

/// A server with a certificate that nobody has signed, for one picture.
final class TLSOrigin {
    static let isAvailable = FileManager.default.isExecutableFile(atPath: openssl)
    private static let openssl = "/usr/bin/openssl"

    /// The picture's address.
    let url: URL
    private let server = Process()
    private let folder = FileManager.default.temporaryDirectory.appending(path: "examples-tls-\(UUID().uuidString)")

    struct NotStarted: Error {}

    init(serving picture: [UInt8]) throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        // The server sends the file as it is: head and content.
        let head =
            "HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nContent-Length: \(picture.count)\r\nConnection: close\r\n\r\n"
        try (Data(head.utf8) + Data(picture)).write(to: folder.appending(path: "picture.png"))
        let making = Process()
        making.executableURL = URL(filePath: Self.openssl)
        making.currentDirectoryURL = folder
        making.standardError = FileHandle.nullDevice
        making.arguments = [
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", "key.pem",
            "-out", "certificate.pem", "-days", "1", "-subj", "/CN=localhost",
        ]
        try making.run()
        making.waitUntilExit()
        let output = Pipe()
        server.executableURL = URL(filePath: Self.openssl)
        server.currentDirectoryURL = folder
        server.arguments = ["s_server", "-accept", "0", "-cert", "certificate.pem", "-key", "key.pem", "-HTTP"]
        server.standardInput = FileHandle.nullDevice
        server.standardOutput = output
        server.standardError = FileHandle.nullDevice
        try server.run()
        // It says where it listens, such as `ACCEPT 0.0.0.0:43215`.
        var text = ""
        while !text.contains(/ACCEPT .*:[0-9]+\n/) {
            guard let more = try output.fileHandleForReading.read(upToCount: 1), !more.isEmpty else {
                throw NotStarted()
            }
            text += String(decoding: more, as: UTF8.self)
        }
        guard let port = text.split(separator: "\n").last?.split(separator: ":").last,
            let url = URL(string: "https://127.0.0.1:\(port)/picture.png")
        else { throw NotStarted() }
        self.url = url
    }

    func stop() {
        server.terminate()
        try? FileManager.default.removeItem(at: folder)
    }
}
