import Foundation
import Pipeline
import PipelineShared
import PipelineTesting
import Stages

/// One of several processes that share a tier and want the same images, each in several sizes, and check every one. It
/// does what the lines of its standard input say, and ends with it.
struct FleetMember {
    static let sides = [16, 24, 32, 48]

    /// What a process is started with.
    struct Settings: Codable {
        /// The URL of Redis.
        var redis: String
        /// The port of the origin, which knows the process by its name.
        var port: Int
        var name: String
        /// How long a request to Redis may take, and how long connecting, in milliseconds; the library's own by default.
        var patience: Int?
        /// How long a lease outlives its process, in milliseconds.
        var lifetime = 5000
        /// How many requests the origin gets at the same time.
        var connections = 6
        /// Where images are kept that are too large for Redis.
        var bucket: String?
    }

    /// Some of the images, each in all sizes.
    struct Wave: Codable {
        /// The first image, and how many there are.
        var first: Int
        var images: Int
        /// How many loads begin at the same time, and with which of the images' sizes.
        var loads: Int
        var offset: Int

        /// The images of this wave.
        var wanted: Set<Int> { Set((0..<loads).map { place($0).image }) }

        func place(_ load: Int) -> (image: Int, side: Int) {
            let number = (offset + load) % (images * FleetMember.sides.count)
            return (first + number / FleetMember.sides.count, FleetMember.sides[number % FleetMember.sides.count])
        }
    }

    /// What came of a wave.
    struct Report: Codable {
        /// How many results this process has made.
        var encodes: Int
        /// How long the slowest load took, in milliseconds.
        var slowest: Int
    }

    private let fleet: Fleet
    private let pipeline: ImagePipeline
    private let encodes = Lock(0)
    private let clients: [CurlClient]
    private let port: Int
    private let state = FleetState()

    init(_ settings: Settings) throws {
        let patience = settings.patience.map { Duration.milliseconds($0) }
        let blobClient = CurlClient(.init(addresses: .any))
        let blobs = try settings.bucket.map { bucket in
            S3Blobs(try S3Bucket(bucket), deadline: .seconds(30), client: blobClient) {
                S3Credentials(accessKey: "key", secretKey: "secret")
            }
        }
        fleet = Fleet(
            try RedisAddress(settings.redis), blobs: blobs,
            connecting: patience.map { RedisLimits(request: $0, connecting: $0) } ?? RedisLimits(),
            leaseLifetime: .milliseconds(settings.lifetime), observers: [state])
        var options = CurlClient.Options(addresses: .any)
        options.userAgent = settings.name
        options.maximumConnectionsPerHost = settings.connections
        let client = CurlClient(options)
        clients = [client, blobClient]
        let resources = PipelineResources(
            memory: MemoryCache(), responses: HTTPCache(inMemory: 100_000_000), client: client)
        port = settings.port
        pipeline = .returnSharedElseLoad(resources, fleet, encoding: CountedEncode(encodes))
        fleet.join(resources)
    }

    /// The size of an image: every other one is larger than the limit of Redis.
    static func size(_ image: Int, hasBlobs: Bool) -> PixelSize {
        hasBlobs && image % 2 == 1 ? PixelSize(width: 384, height: 288) : PixelSize(width: 128, height: 96)
    }

    /// The colour of an image, by its number.
    static func color(_ image: Int) -> [UInt8] {
        [
            UInt8(truncatingIfNeeded: image), UInt8(truncatingIfNeeded: image &* 7),
            UInt8(truncatingIfNeeded: 255 &- image),
        ]
    }

    /// Reads lines: a wave, or `wait` to wait until Redis is asked again. Each is replied to by one line.
    @MainActor
    func run() async throws {
        while let line = readLine() {
            if line == "wait" {
                await state.untilUsed()
                Child.tell("used")
            } else {
                let wave = try JSONDecoder().decode(Wave.self, from: Data(line.utf8))
                let report = try await load(wave)
                Child.tell(String(decoding: try JSONEncoder().encode(report), as: UTF8.self))
            }
        }
        // OpenSSL tidies up when the program exits, and no thread may use it then.
        for client in clients { await client.shutdown() }
    }

    private func load(_ wave: Wave) async throws -> Report {
        let before = encodes.withLock(\.self)
        let slowest = try await withThrowingTaskGroup { group in
            for load in 0..<wave.loads {
                let (image, side) = wave.place(load)
                group.addTask {
                    let start = ContinuousClock.now
                    try await check(image: image, side: side)
                    return ContinuousClock.now - start
                }
            }
            return try await group.reduce(Duration.zero) { max($0, $1) }
        }
        return Report(encodes: encodes.withLock(\.self) - before, slowest: Int(slowest / .milliseconds(1)))
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
        guard decoded.frames[0].bytes.prefix(3) == Self.color(image)[...] else {
            throw TrialFailure("image \(image) is another one")
        }
    }
}

/// Whether a process asks Redis.
private final class FleetState: FleetObserver {
    private let state = Lock((isLost: false, waiters: [Waiter<Void>]()))

    func observe(_ event: FleetEvent) {
        switch event {
        case .lost: state.withLock { $0.isLost = true }
        case .restored:
            let waiters = state.withLock { state in
                defer { state = (false, []) }
                return state.waiters
            }
            for waiter in waiters { waiter.resume(with: .success(())) }
        default: break
        }
    }

    func untilUsed() async {
        let waiter = Waiter<Void>()
        let isLost = state.withLock { state in
            if state.isLost { state.waiters.append(waiter) }
            return state.isLost
        }
        if isLost { try? await waiter.value { waiter.resume(with: .success(())) } }
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
