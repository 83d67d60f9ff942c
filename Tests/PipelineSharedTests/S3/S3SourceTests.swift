import FleetServers
import Foundation
import HTTPTypes
import Pipeline
import PipelineHTTP
import PipelineTesting
import Stages
import Testing

@testable import PipelineShared

@Suite("Images in S3", .withS3, .timeLimit(.minutes(5)))
struct S3SourceTests {
    private func loader(_ server: S3Server, _ credentials: S3Credentials = S3Server.credentials) -> ImageLoader {
        // Public addresses alone may be loaded; the store is the program's choice.
        let client = SignedForS3(CurlClient(), at: server.endpoint) { credentials }
        return ImageLoader(
            PipelineResources(
                memory: MemoryCache(), responses: HTTPCache(inMemory: 10_000_000), client: client))
    }

    @Test(
        "are loaded by s3: URLs and kept under them", arguments: ["cat.png", "a%20b/%C3%BC%2B(1)'~.png", "x=1&y.png"])
    func loading(_ key: String) async throws {
        let server = try await S3Server(.rclone)
        let picture = Picture.png(PixelSize(width: 40, height: 30))
        #expect(try await server.send(.put, key, body: picture).status == 200)
        let url = try #require(URL(string: "s3://images/\(key)"))
        let loader = loader(server)
        let response = try await loader.load(url)
        #expect(response.image.size == PixelSize(width: 40, height: 30))
        #expect(response.source == .network)
        #expect(try await loader.load(url).source == .memory)
    }

    @Test("that are missing, refused or not named fail with what is wrong")
    func failing() async throws {
        let server = try await S3Server(.rclone)
        let url = try #require(URL(string: "s3://images/none.png"))
        let missing = await #expect(throws: LoadError.self) { try await loader(server).load(url) }
        #expect(missing?.httpStatus == 404)
        let wrong = S3Credentials(accessKey: "images", secretKey: "hunter2")
        let refused = await #expect(throws: LoadError.self) { try await loader(server, wrong).load(url) }
        #expect(refused?.httpStatus == 403)
        let bucket = try #require(URL(string: "s3://images"))
        let unnamed = await #expect(throws: LoadError.self) { try await loader(server).load(bucket) }
        #expect(unnamed?.message.contains("s3://bucket/key") == true)
        let plain = await #expect(throws: LoadError.self) {
            try await ImageLoader(
                PipelineResources(
                    memory: MemoryCache(), responses: HTTPCache(inMemory: 1_000_000), client: CurlClient())
            ).load(url)
        }
        #expect(plain?.code == .unsupportedScheme)
    }
}
