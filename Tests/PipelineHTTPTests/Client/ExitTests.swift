import Essentials
import LibC
import TestFixtures
import Testing

@testable import PipelineHTTP

@Suite(
    "A program that exits amid transfers over TLS",
    .enabled(if: TLSServer.isAvailable, "nginx and openssl are needed"), .timeLimit(.minutes(5)))
struct ExitTests {
    private struct Origin: Codable {
        let url: URL
        let authority: String
    }

    @Test("ends with the status that it asked for")
    func exits() async throws {
        let server = try TLSServer("")
        try server.write("picture", count: 100_000)
        let origin = try Origin(url: server.url("/picture"), authority: server.authority)
        // One exit in fifty met the moment in which OpenSSL had freed what a handshake still used.
        for _ in 0..<50 {
            await #expect(processExitsWith: .exitCode(7)) { [origin = origin as Origin] in
                await withTaskGroup(of: Void.self) { group in
                    for _ in 0..<32 {
                        group.addTask {
                            var options = CurlClient.Options.local
                            options.caFile = origin.authority
                            let client = CurlClient(options)
                            while true { _ = try? await client.get(origin.url) }
                        }
                    }
                    usleep(50_000)
                    exit(7)
                }
            }
        }
        withExtendedLifetime(server) {}
    }
}
