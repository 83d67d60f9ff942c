import Foundation
import HTTPTypes
import Pipeline
import PipelineTesting
import Stages
import TestFixtures

/// An origin with a picture, a clock, and a cache folder that goes with the test.
final class Site: Sendable {
    let origin: ScriptedOrigin
    let clock = ManualClock()
    let folder: String
    let flights = Flights()
    let client = CurlClient(.local)

    /// Serves a 160×120 picture at any path, with these fields; a request that names its tag gets 304.
    init(_ headers: HTTPFields = [.eTag: "\"1\"", .cacheControl: "max-age=60"]) throws {
        let picture = try Pictures.bytes("good/webp-lossy.webp")
        origin = try ScriptedOrigin { request in
            let isKnown = request.headers[.ifNoneMatch] != nil && request.headers[.ifNoneMatch] == headers[.eTag]
            return isKnown ? .init(status: 304, headers: headers) : .init(headers: headers, body: picture)
        }
        folder = NSTemporaryDirectory() + "pipeline-tests-\(UUID().uuidString)"
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    /// What a program has that has just started: nothing in memory, and what is on disk.
    func resources(limits: ImageLimits = ImageLimits()) -> PipelineResources {
        PipelineResources(
            memory: MemoryCache(), responses: .test(folder, clock: clock), flights: flights,
            client: client, limits: limits)
    }

    func loader(defaults: LoadOptions = LoadOptions()) -> ImageLoader { ImageLoader(resources(), defaults: defaults) }

    var requests: Int { origin.log.requests.count }
}
