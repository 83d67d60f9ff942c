import Essentials
import HTTPTypes
import Pipeline
import PipelineTesting
import Stages
import TestFixtures

/// An origin with a picture, and what a loader over it needs. Nothing is stored on disk: not even root can make the folder.
struct ObservedSite {
    let origin: ScriptedOrigin
    let resources: PipelineResources
    let picture = Picture.png(PixelSize(width: 40, height: 30))

    init() throws {
        let picture = picture
        origin = try ScriptedOrigin { request in
            request.path == "/gone" ? .init(status: 404) : .init(headers: [.cacheControl: "no-store"], body: picture)
        }
        resources = PipelineResources(
            memory: MemoryCache(), responses: HTTPCache(folder: "/dev/null/\(origin.port)"),
            client: CurlClient(.local))
    }

    /// Takes a picture that is kept in memory, one that is not, and one that isn't there.
    func visit(_ observer: any LoadObserver) async throws {
        let loader = ImageLoader(resources, observers: [observer])
        _ = try await loader.load(.bytes(picture))
        _ = try await loader.load(.bytes(picture))
        _ = try await loader.load(origin.url("/a?token=secret"))
        _ = try? await loader.load(origin.url("/gone"))
    }
}
