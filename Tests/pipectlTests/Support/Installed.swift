import FleetServers
import Foundation
import TestFixtures
import Testing

extension Trait where Self == ConditionTrait {
    /// Skips the tests where Debian's redis-tools is missing.
    static var withRedis: Self { .enabled("redis-tools isn't installed") { RedisServer.isInstalled } }

    /// Skips the tests where Scripts/s3-servers hasn't run.
    static var withS3: Self { .enabled("Scripts/s3-servers hasn't run") { S3Server.isInstalled } }

    /// Skips the tests where this user may not mount file systems of its own, as in some containers.
    static var withMounts: Self { .enabled("unshare can't mount here") { SmallFileSystem.isPossible } }

    /// Skips the tests where a program of Debian's is missing.
    static func withProgram(_ name: String) -> Self {
        .enabled("\(name) isn't installed") { FileManager.default.isExecutableFile(atPath: "/usr/bin/\(name)") }
    }
}
