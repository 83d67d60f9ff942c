import Foundation
import Pipeline
import Testing

@testable import PipelineShared

@Suite("The address of a Redis server")
struct RedisAddressTests {
    @Test(
        "is read from a URL",
        arguments: [
            ("redis://cache.internal", RedisAddress(.host("cache.internal", port: 6379))),
            ("redis://cache:7000/3", RedisAddress(.host("cache", port: 7000), database: 3)),
            ("redis://cache/", RedisAddress(.host("cache", port: 6379))),
            ("redis://:se%2Fcret@cache", RedisAddress(.host("cache", port: 6379), password: "se/cret")),
            (
                "redis://images:secret@[::1]:6380",
                RedisAddress(.host("::1", port: 6380), user: "images", password: "secret")
            ),
            ("rediss://cache", RedisAddress(.host("cache", port: 6379), tls: RedisTLS())),
            (
                "rediss://cache:6380/1?ca=/ca.pem&cert=/a%20b.pem&key=/a.key&server-name=redis.internal",
                RedisAddress(
                    .host("cache", port: 6380), database: 1,
                    tls: RedisTLS(
                        authorities: "/ca.pem", certificate: "/a b.pem", key: "/a.key", serverName: "redis.internal"))
            ),
            (
                "redis+sentinel://a,b:26380,[::1]/thumbs",
                RedisAddress(
                    .primary(
                        RedisSentinels(
                            of: "thumbs",
                            at: [.host("a", port: 26_379), .host("b", port: 26_380), .host("::1", port: 26_379)])))
            ),
            (
                "rediss+sentinel://u:p%40s@a/thumbs?db=2&sentinel-password-file=/pass&ca=/ca.pem",
                RedisAddress(
                    .primary(RedisSentinels(of: "thumbs", at: [.host("a", port: 26_379)], passwordFile: "/pass")),
                    user: "u", password: "p@s", database: 2, tls: RedisTLS(authorities: "/ca.pem"))
            ),
            ("unix:///run/redis.sock", RedisAddress(.socket(path: "/run/redis.sock"))),
            (
                "unix://u:p@/run/redis.sock?db=2",
                RedisAddress(.socket(path: "/run/redis.sock"), user: "u", password: "p", database: 2)
            ),
        ])
    func reading(_ text: String, _ address: RedisAddress) throws {
        #expect(try RedisAddress(text) == address)
    }

    @Test(
        "is refused with what to write instead, and without the password",
        arguments: [
            ("http://u:hunter2@cache", LoadError.Code.unsupportedScheme, "rediss://"),
            ("redis://u:hunter2@cache?ca=/ca.pem", .invalidURL, "rediss://"),
            ("unix://u:hunter2@/a.sock?server-name=a", .invalidURL, "rediss://"),
            ("rediss://u:hunter2@a,b", .invalidURL, "rediss+sentinel://host,host/name"),
            ("redis+sentinel://u:hunter2@a,b", .invalidURL, "sentinel.conf"),
            ("redis+sentinel://u:hunter2@a,,b/thumbs", .invalidURL, "sentinel.conf"),
            ("redis+sentinel://u:hunter2@a,b:x/thumbs", .invalidURL, "sentinel.conf"),
            ("redis+sentinel://u:hunter2@a/thumbs/2", .invalidURL, "sentinel.conf"),
            ("redis+sentinel://u:hunter2@a/thumbs?db=x", .invalidURL, "/0"),
            ("redis://u:hunter2@a?sentinel-password-file=/a", .invalidURL, "not known"),
            ("redis+sentinel://u:hunter2@a/b?sentinel-user=c", .invalidURL, "sentinel-password-file"),
            ("rediss://u:hunter2@cache?key=/a.key", .invalidURL, "cert"),
            ("rediss://u:hunter2@cache?verify=no", .invalidURL, "server-name"),
            ("redis://u:hunter2@", .invalidURL, "host"),
            ("redis://u:hunter2@cache/one", .invalidURL, "/0"),
            ("redis://u:hunter2@cache/-1", .invalidURL, "/0"),
            ("redis://u:hunter2/x@cache", .invalidURL, "redis://host:port"),
            ("unix://u:hunter2@run/redis.sock", .invalidURL, "three slashes"),
            ("hunter2@cache", .invalidURL, "unix:///path"),
            ("redis://u:hunter2@cache?namspace=a", .invalidURL, "namespace"),
            ("redis://u:hunter2@cache?namespace=", .invalidURL, "no value"),
            ("redis://u:hunter2@cache?db=1", .invalidURL, "not known"),
            ("redis://u:hunter2@cache?password-file=/etc/hosts", .invalidURL, "one of them"),
        ])
    func refusing(_ text: String, _ code: LoadError.Code, _ advice: String) throws {
        let error = #expect(throws: LoadError.self) { try RedisAddress(text) }
        #expect(error?.code == code)
        #expect(error.map { "\($0)".contains(advice) } == true, "\(String(describing: error))")
        #expect(error.map { "\($0)".contains("hunter2") } == false)
    }

    @Test("has a namespace, a client's name, and a file that is read for each connection")
    func parameters() throws {
        let file = NSTemporaryDirectory() + "pipeline-password-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: file) }
        let address = try RedisAddress(
            "redis://images@cache?namespace=a%20b&client=thumb%20nails&password-file=\(file)")
        #expect(address.namespace == "a b" && address.nameOfClient == "thumbnails")
        #expect(throws: RedisFailure.self) { try address.currentPassword() }
        for password in ["hunter2\n", "other"] {
            try Data(password.utf8).write(to: URL(filePath: file))
            #expect(try address.currentPassword() == password.trimmingCharacters(in: .newlines))
        }
        #expect("\(address)" == "redis://cache:6379/0?namespace=a b")
        #expect(
            "\(try RedisAddress("rediss://a:b@cache?ca=/ca&cert=/c&key=/k&namespace=c"))"
                == "rediss://cache:6379/0?namespace=c")
        #expect(
            "\(try RedisAddress("redis+sentinel://x:y@a,[::1]:1/t?db=1&sentinel-password-file=/s"))"
                == "redis+sentinel://a:26379,[::1]:1/t?db=1")
        #expect("\(try RedisAddress("unix:///a.sock?db=1&namespace=b"))" == "unix:///a.sock?db=1&namespace=b")
    }

    @Test("shows neither the user nor the password")
    func redaction() throws {
        let address = try RedisAddress("redis://images:hunter2@[::1]:6380/4")
        #expect("\(address)" == "redis://[::1]:6380/4")
        #expect(!String(reflecting: address).contains("hunter2"))
        var dumped = ""
        dump(address, to: &dumped)
        #expect(!dumped.contains("hunter2"))
        #expect("\(try RedisAddress("unix:///run/redis.sock"))" == "unix:///run/redis.sock")
    }
}
