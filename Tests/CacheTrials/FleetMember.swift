import Foundation
import Pipeline
import PipelineShared
import PipelineTesting
import Stages

/// One of several processes that share a tier and want the same images, each in several sizes, and check every one.
struct FleetMember {
    static let sides = [16, 24, 32, 48]

    private let fleet: Fleet
    private let pipeline: ImagePipeline
    private let encodes = Lock(0)
    private let port: Int
    private let seed: UInt64

    /// - Parameters:
    ///   - lifetime: How long a lease outlives its process.
    ///   - bucket: Where images are kept that are too large for Redis.
    init(socket: String, port: Int, seed: UInt64, lifetime: Duration, bucket: String?) throws {
        let connecting = RedisLimits(request: .seconds(30), connecting: .seconds(30))
        let blobs = try bucket.map { bucket in
            S3Blobs(try S3Bucket(bucket), deadline: .seconds(30)) {
                S3Credentials(accessKey: "key", secretKey: "secret")
            }
        }
        let fleet = Fleet(
            RedisAddress(.socket(path: socket)), blobs: blobs, connecting: connecting, leaseLifetime: lifetime)
        let resources = PipelineResources(
            memory: MemoryCache(), responses: HTTPCache(inMemory: 100_000_000),
            client: CurlClient(.init(addresses: .any)))
        self.fleet = fleet
        self.port = port
        self.seed = seed
        pipeline = .returnSharedElseLoad(resources, fleet, encoding: CountedEncode(encodes))
    }

    /// The size of an image: every other one is larger than the limit of Redis.
    static func size(_ image: Int, hasBlobs: Bool) -> PixelSize {
        hasBlobs && image % 2 == 1 ? PixelSize(width: 384, height: 288) : PixelSize(width: 128, height: 96)
    }

    /// The colour of an image, by its number.
    static func colour(_ image: Int) -> [UInt8] {
        [
            UInt8(truncatingIfNeeded: image), UInt8(truncatingIfNeeded: image &* 7),
            UInt8(truncatingIfNeeded: 255 &- image),
        ]
    }

    /// Loads concurrently: this many of all images in all sizes, evenly, from a place that differs by process.
    func run(loads: Int, images: Int) async throws {
        try await withThrowingTaskGroup { group in
            for load in 0..<loads {
                let number = (Int(seed) &* loads + load) % (images * Self.sides.count)
                group.addTask {
                    try await check(image: number / Self.sides.count, side: Self.sides[number % Self.sides.count])
                }
            }
            try await group.waitForAll()
        }
        Child.tell("\(encodes.withLock { $0 })")
        withExtendedLifetime(fleet) {}
    }

    private func check(image: Int, side: Int) async throws {
        guard let url = URL(string: "http://127.0.0.1:\(port)/\(image).png") else { throw TrialFailure("no URL") }
        let size = PixelSize(width: side, height: side)
        let response = try await pipeline.load(ImageRequest(url, maxPixelSize: size))
        guard case .bytes(let file) = response.product else { throw TrialFailure("no bytes") }
        let decoded = try await DecodedImage(decoding: file.bytes)
        guard decoded.size == PixelSize(width: side, height: side * 3 / 4) else {
            throw TrialFailure("image \(image) has \(decoded.size) instead of \(side)")
        }
        guard decoded.frames[0].bytes.prefix(3) == Self.colour(image)[...] else {
            throw TrialFailure("image \(image) is another one")
        }
    }
}

/// Counts the results that a process makes.
private struct CountedEncode: Stage {
    let accepts: Phases = .decoded
    let produces: Phases = .encoded
    let signature: String? = "counted"
    private let encode = Encode(.png)
    private let count: Lock<Int>

    init(_ count: Lock<Int>) { self.count = count }

    func run(_ load: inout Load) async throws -> Outcome {
        count.withLock { $0 += 1 }
        return try await encode.run(&load)
    }
}
