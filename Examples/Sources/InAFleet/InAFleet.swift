import FoundationEssentials
import PipelineShared
import PipelineSharedMetrics
import Stages

/// A machine of a service whose machines share a tier of their cache.
struct InAFleet {
    let fleet: Fleet
    let loader: ImageLoader
    let thumbnails: ImagePipeline

    init(_ resources: PipelineResources) throws {
        let fleet = Fleet(try RedisAddress("redis://cache.internal"))
        let loader = try ImageLoader(resources, arrangement: fleet.arrangement)
        fleet.join(resources)

        let thumbnails = ImagePipeline.returnSharedElseLoad(resources, fleet, encoding: Encode(.webp))

        (self.fleet, self.loader, self.thumbnails) = (fleet, loader, thumbnails)
    }

    /// The same, with a bucket for large responses.
    static func withBucket() throws -> Fleet {
        let blobs = S3Blobs(try S3Bucket("s3://images/fleet?endpoint=https://minio.internal:9000"))
        let fleet = Fleet(try RedisAddress("redis://cache.internal"), blobs: blobs)
        return fleet
    }

    /// The same, over TLS.
    static func overTLS() throws -> Fleet {
        let encrypted = Fleet(try RedisAddress("rediss://cache.internal?ca=/etc/redis/ca.pem"))
        return encrypted
    }

    /// The same, with sentinels.
    static func withSentinels() throws -> Fleet {
        let watched = Fleet(try RedisAddress("redis+sentinel://a.internal,b.internal,c.internal/images"))
        return watched
    }

    /// The same, with metrics.
    static func withMetrics() throws -> Fleet {
        let fleet = Fleet(try RedisAddress("redis://cache.internal"), observers: [FleetMetrics()])
        return fleet
    }

    /// Whether this machine has heard of every removal, for a readiness probe.
    func isReady() async throws -> Bool {
        let isReady = try await fleet.ready(within: .seconds(1))
        return isReady
    }

    /// Loads an image of a product, and removes all images of that product from every tier of every machine.
    func loadAndRemove(_ url: URL) async throws -> ImageResponse {
        let response = try await loader.load(url, options: LoadOptions(tags: ["product-17"]))
        await fleet.remove(tag: "product-17")
        return response
    }
}
