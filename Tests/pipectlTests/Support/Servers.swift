import FleetServers
import Testing

extension Trait where Self == ConditionTrait {
    /// Skips the tests where Debian's redis-tools is missing.
    static var withRedis: Self { .enabled("redis-tools isn't installed") { RedisServer.isInstalled } }
}

extension Trait where Self == ConditionTrait {
    /// Skips the tests where Scripts/s3-servers hasn't run.
    static var withS3: Self { .enabled("Scripts/s3-servers hasn't run") { S3Server.isInstalled } }
}
