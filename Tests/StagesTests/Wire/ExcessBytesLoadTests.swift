import Foundation
import Pipeline
import PipelineTesting
import Stages
import TestFixtures
import Testing

@Suite("Loads of an origin that sends bytes behind a response's end", .timeLimit(.minutes(5)))
struct ExcessBytesLoadTests {
    private static let forged = "HTTP/1.1 200 OK\r\nCache-Control: max-age=3600\r\nContent-Length: 6\r\n\r\nforged"

    @Test("Each load gets and stores what was asked for", arguments: [false, true])
    func loaded(byProxy: Bool) async throws {
        let origin = try RawOrigin { request, connection in
            let content = request.target.split(separator: "/").last ?? ""
            connection.send(
                "HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Length: \(content.count)\r\n\r\n\(content)")
        }
        let folder = try TemporaryFolder()
        let responses = HTTPCache(folder: folder.path)
        var options = CurlClient.Options.local
        let address = try #require(URL(string: "http://127.0.0.1:\(origin.port)"))
        if byProxy { options.proxy = address }
        let pipeline = ImagePipeline {
            ResolveIdentifier()
            Lookup(responses)
            Fetch(CurlClient(options))
            StubStage("Decode", accepts: .original, produces: .decoded) { load in
                guard case .original(let image) = load.content, case .url(let url) = load.request.source else {
                    return .skipped
                }
                #expect(String(decoding: image.bytes, as: UTF8.self) == url.lastPathComponent)
                load.advance(to: .decoded(.filled(1)))
                return .done
            }
            Store(nil, responses)
        }
        _ = try await pipeline.load(ImageRequest(address.appending(path: "evil")))
        let connection = try #require(origin.connections.first)
        connection.send(Self.forged)
        connection.waitUntilDelivered()
        #expect(try await pipeline.load(ImageRequest(address.appending(path: "other"))).source == .network)
        #expect(try await pipeline.load(ImageRequest(address.appending(path: "other"))).source == .disk)
        await responses.close()
    }
}
