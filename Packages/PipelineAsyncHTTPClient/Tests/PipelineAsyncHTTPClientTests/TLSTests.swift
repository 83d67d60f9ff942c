import AsyncHTTPClient
import Foundation
import NIOCore
import NIOSSL
import PipelineHTTP
import Testing

@Suite("TLS through AsyncHTTPClient", .timeLimit(.minutes(5)), .enabled(if: SelfSigned.isAvailable))
struct TLSTests {
    /// Asks a server with a certificate of its own, which the client trusts or not.
    private func get(certificateFor name: String, isTrusted: Bool) async throws -> [UInt8] {
        let certificate = try SelfSigned(for: name)
        let server = try NIOSSLContext(
            configuration: .makeServerConfiguration(
                certificateChain: [.certificate(certificate.certificate)], privateKey: .privateKey(certificate.key)))
        var body: [UInt8] = []
        try await withServer(tls: server) { send in
            try await send(ByteBuffer(string: "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx"))
        } _: { port in
            var configuration = HTTPClient.Configuration.patient
            configuration.tlsConfiguration = .makeClientConfiguration()
            if isTrusted {
                configuration.tlsConfiguration?.additionalTrustRoots = [.certificates([certificate.certificate])]
            }
            body = try await LocalClient(configuration).get(#require(URL(string: "https://127.0.0.1:\(port)/"))).body
        }
        return body
    }

    @Test("A server whose certificate is trusted responds")
    func trusted() async throws {
        #expect(try await get(certificateFor: "IP:127.0.0.1", isTrusted: true) == Array("x".utf8))
    }

    @Test("A certificate that isn't trusted, or is another host's, is a permanent failure, which isn't retried")
    func untrusted() async throws {
        let unknown = await failure(.unreachable) { try await get(certificateFor: "IP:127.0.0.1", isTrusted: false) }
        #expect(unknown?.isPermanent == true)
        let other = await failure(.unreachable) { try await get(certificateFor: "DNS:other.example", isTrusted: true) }
        #expect(other?.isPermanent == true)
    }
}

/// A certificate that no authority has signed, made on the spot.
private struct SelfSigned {
    let certificate: NIOSSLCertificate
    let key: NIOSSLPrivateKey

    private static let openssl = "/usr/bin/openssl"
    static var isAvailable: Bool { FileManager.default.isExecutableFile(atPath: openssl) }

    init(for name: String) throws {
        let process = Process()
        process.executableURL = URL(filePath: Self.openssl)
        process.arguments = [
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
            "-subj", "/CN=test", "-addext", "subjectAltName=\(name)", "-keyout", "-", "-out", "-",
        ]
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        let text = Array(output.fileHandleForReading.readDataToEndOfFile())
        process.waitUntilExit()
        certificate = try NIOSSLCertificate(bytes: text, format: .pem)
        key = try NIOSSLPrivateKey(bytes: text, format: .pem)
    }
}
