import FleetServers
import Testing

@testable import PipelineShared

extension Trait where Self == ConditionTrait {
    /// Skips the tests where Debian's redis-tools is missing.
    static var withRedis: Self { .enabled("redis-tools isn't installed") { RedisServer.isInstalled } }
}

extension Trait where Self == ConditionTrait {
    /// Skips the tests where Debian's redis-tools or openssl is missing.
    static var withEncryptedRedis: Self {
        .enabled("redis-tools or openssl isn't installed") { EncryptedRedis.isInstalled }
    }
}

extension Trait where Self == ConditionTrait {
    /// Skips the tests where Scripts/s3-servers hasn't run.
    static var withS3: Self { .enabled("Scripts/s3-servers hasn't run") { S3Server.isInstalled } }
}

extension FleetEvent {
    /// Whether it says that a machine doesn't hear of invalidations any more.
    var isDeaf: Bool { if case .deaf = self { true } else { false } }

    /// For how long a machine hasn't heard of invalidations.
    var behind: Duration? { if case .behind(let time) = self { time } else { nil } }

    /// How long the slowest reply took.
    var latency: Duration? { if case .latency(let time) = self { time } else { nil } }

    /// Whether it is a measurement, which comes at any time.
    var isMeasurement: Bool { behind != nil || latency != nil }
}

extension RedisServer {
    /// The address with a user who may do what an access control list allows.
    func address(allowing rules: String) throws -> RedisAddress {
        try send("ACL SETUSER images on >secret \(rules)")
        var address = address
        (address.user, address.password) = ("images", "secret")
        return address
    }

    /// Waits until leases of this many names are waited for.
    func listeners(_ count: Int) async throws {
        let connection = RedisConnection(address, limits: RedisLimits(request: .seconds(10)))
        while try await connection.send("PUBSUB", "CHANNELS", "*:d:*").array?.count != count {}
    }
}
