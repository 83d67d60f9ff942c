import FleetServers
import Foundation
import Testing

extension Trait where Self == ConditionTrait {
    /// Skips the tests where Debian's redis-tools is missing.
    static var withRedis: Self { .enabled("redis-tools isn't installed") { RedisServer.isInstalled } }

    /// Skips the tests where Scripts/s3-servers hasn't run.
    static var withS3: Self { .enabled("Scripts/s3-servers hasn't run") { S3Server.isInstalled } }

    /// Skips the tests where a program of Debian's is missing.
    static func withProgram(_ name: String) -> Self {
        .enabled("\(name) isn't installed") { FileManager.default.isExecutableFile(atPath: "/usr/bin/\(name)") }
    }
}
