import Foundation
import HTTPTypes
import Pipeline
import PipelineTesting
import Stages
import Testing

@testable import ThumbnailService

@Suite("A thumbnail service")
final class ThumbnailServiceTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "examples-\(UUID().uuidString)")
    private let origin: ScriptedOrigin

    init() async throws {
        let pixels: [UInt8] = (0..<400 * 300).flatMap {
            [UInt8(truncatingIfNeeded: $0), UInt8(truncatingIfNeeded: $0 >> 8), 90]
        }
        let picture = DecodedImage(size: PixelSize(width: 400, height: 300), layout: .rgb, pixels: pixels)
        let supply = StubStage("Supply", accepts: .empty, produces: .decoded) { load in
            load.advance(to: .decoded(picture), from: .inline)
            return .done
        }
        let file =
            try await ImagePipeline {
                supply
                Encode(.png)
            }.load(ImageRequest(.bytes([]))).encoded?.bytes ?? []
        origin = try ScriptedOrigin { request in
            request.target.contains("missing")
                ? .init(status: 404) : .init(headers: [.cacheControl: "max-age=3600"], body: file)
        }
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    private func service() -> ThumbnailService {
        ThumbnailService(
            PipelineResources(
                memory: MemoryCache(), responses: HTTPCache(folder: folder.path),
                client: CurlClient(.init(addresses: .any))), origin: origin.url("/"))
    }

    @Test("gives each client the format that suits it, of one download")
    func formats() async throws {
        let service = service()
        for (accept, type) in [
            ("image/avif,image/webp,*/*", "image/avif"), ("image/webp", "image/webp"), ("*/*", "image/jpeg"),
        ] {
            let answer = try await service.answer(path: "a.png", width: 300, accept: accept)
            #expect(answer.status == 200)
            #expect(answer.headers[.contentType] == type)
            #expect(answer.headers[.vary] == "Accept")
        }
        #expect(origin.log.requests.count == 1)
    }

    @Test("gives a client only formats that it accepts, for transparent images too")
    func transparent() async throws {
        let picture = DecodedImage(
            size: PixelSize(width: 40, height: 30), layout: .rgba,
            pixels: (0..<40 * 30).flatMap { [200, 40, UInt8(truncatingIfNeeded: $0), UInt8($0 % 2 * 255)] })
        let file = try await EncodedImage(encoding: picture, as: .png).bytes
        origin.route("/clear.png") { _ in .init(headers: [.cacheControl: "max-age=3600"], body: file) }
        let service = service()
        for (accept, type) in [
            ("image/jpeg", "image/jpeg"), ("image/png", "image/png"), ("*/*", "image/png"),
            ("image/jpeg, image/webp;q=0.5", "image/webp"), ("image/avif, image/jpeg", "image/avif"),
        ] {
            let answer = try await service.answer(path: "clear.png", width: 160, accept: accept)
            #expect(answer.headers[.contentType] == type, "\(accept)")
        }
    }

    @Test("gives the same bytes after a new start, and doesn't ask the origin again")
    func restarted() async throws {
        let first = try await service().answer(path: "a.png", width: 160, accept: nil)
        let second = try await service().answer(path: "a.png", width: 150, accept: "*/*")
        #expect(first.body == second.body)
        #expect(origin.log.requests.count == 1)
    }

    @Test("says what is missing, and refuses sizes that nobody needs")
    func errors() async throws {
        #expect(try await service().answer(path: "missing.png", width: 160, accept: nil).status == 404)
        #expect(try await service().answer(path: "a.png", width: 5000, accept: nil).status == 400)
    }
}
