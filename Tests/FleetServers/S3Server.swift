import Foundation
package import HTTPTypes
import PipelineHTTP
package import PipelineShared

/// An S3-compatible server with a bucket named `images`, which ends with the test.
package final class S3Server: Sendable {
    package enum Kind: String, CaseIterable {
        /// Knows conditional writes.
        case moto
        /// Verifies signatures, and knows no conditions.
        case rclone
    }

    /// Where Scripts/s3-servers installs them.
    private static let programs = URL(filePath: #filePath).deletingLastPathComponent().appending(
        path: "../../.build/s3-servers/bin/"
    ).standardizedFileURL.path()
    package static var isInstalled: Bool {
        ["moto_server", "rclone"].allSatisfy { FileManager.default.isExecutableFile(atPath: programs + $0) }
    }

    package let endpoint: S3Endpoint
    package let folder: String
    private let process: Process
    private let kind: Kind
    package static let credentials = S3Credentials(accessKey: "images", secretKey: "s3cret/with+signs")

    /// Starts a server and returns once it accepts connections.
    package init(_ kind: Kind) async throws {
        let port = try freePort()
        endpoint = try S3Endpoint("http://127.0.0.1:\(port)", region: "eu-central-1")
        folder = NSTemporaryDirectory() + "pipeline-s3-\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(atPath: folder + "/images", withIntermediateDirectories: true)
        self.kind = kind
        process = Process()
        process.currentDirectoryURL = URL(filePath: folder)
        switch kind {
        case .moto:
            process.executableURL = URL(filePath: Self.programs + "moto_server")
            process.arguments = ["-H", "127.0.0.1", "-p", "\(port)"]
        case .rclone:
            process.executableURL = URL(filePath: Self.programs + "rclone")
            process.arguments = [
                "serve", "s3", "--addr", "127.0.0.1:\(port)", "--config", "/dev/null", "--auth-key",
                "\(Self.credentials.accessKey),\(Self.credentials.secretKey)", folder,
            ]
        }
        let output = Pipe()
        process.standardOutput = output
        process.standardError = output
        try process.run()
        var said = Data()
        let signs = ["Running on", "Starting s3 server"].map { Data($0.utf8) }
        while !signs.contains(where: { said.range(of: $0) != nil }) {
            let more = output.fileHandleForReading.availableData
            said += more
            if more.isEmpty { throw RedisServer.Failure(said: String(decoding: said, as: UTF8.self)) }
        }
        // What it says later must not block it.
        output.fileHandleForReading.dropEverything()
        guard kind == .moto else { return }
        let place =
            "<CreateBucketConfiguration><LocationConstraint>eu-central-1</LocationConstraint></CreateBucketConfiguration>"
        guard try await send(.put, "", body: Array(place.utf8)).status == 200 else {
            throw RedisServer.Failure(said: "no bucket")
        }
    }

    deinit {
        kill()
        try? FileManager.default.removeItem(atPath: folder)
    }

    /// Ends the server at once.
    package func kill() {
        guard process.isRunning else { return }
        Foundation.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    package var bucket: S3Bucket {
        get throws { try S3Bucket("s3://images/fleet?endpoint=\(endpoint.url)&region=eu-central-1", environment: [:]) }
    }

    /// The bucket as a place for large responses.
    package func blobs(bytes: Int = 64_000_000, credentials: S3Credentials = S3Server.credentials) throws -> S3Blobs {
        S3Blobs(try bucket, bytes: bytes, deadline: .seconds(30)) { credentials }
    }

    /// Sends a signed request about an object.
    @discardableResult
    package func send(_ method: HTTPRequest.Method, _ key: String, body: [UInt8]? = nil) async throws -> (
        status: Int, body: [UInt8]
    ) {
        let client = SignedForS3(CurlClient(.init(addresses: .any)), at: endpoint) { Self.credentials }
        guard let url = URL(string: "\(endpoint.url)/images/\(key)") else { throw RedisServer.Failure(said: key) }
        let response = try await client.send(TransferRequest(method: method, url: url, body: body))
        var received: [UInt8] = []
        for try await chunk in response.body { received += chunk }
        return (response.status, received)
    }

    /// The names of the objects below the prefix.
    package func names() async throws -> [String] {
        if kind == .rclone {
            return (try? FileManager.default.contentsOfDirectory(atPath: folder + "/images/fleet")) ?? []
        }
        let list = String(decoding: try await send(.get, "").body, as: UTF8.self)
        return list.matches(of: /<Key>fleet\/([^<]*)<\/Key>/).map { String($0.1) }
    }
}
