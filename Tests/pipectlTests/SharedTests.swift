import FleetServers
import Foundation
import HTTPTypes
import Pipeline
import PipelineShared
import PipelineTesting
import Testing

@Suite("pipectl --shared", .withRedis, .timeLimit(.minutes(5)))
struct SharedTests {
    private let pipectl: Pipectl
    private let server: RedisServer
    private let origin: ScriptedOrigin

    init() throws {
        pipectl = try Pipectl()
        server = try RedisServer()
        let picture = Picture.png(PixelSize(width: 64, height: 48))
        let tag = try #require(HTTPField.Name("Cache-Tag"))
        origin = try ScriptedOrigin { request in
            .init(headers: [.cacheControl: "max-age=600", tag: "all, \(request.path)"], body: picture)
        }
    }

    private var address: String { "unix://\(server.socket)" }
    private var url: String { origin.url("/cat.png").absoluteString }

    @Test("needs one request for all machines and verbs")
    func sharing() async throws {
        let loaded = try await pipectl.run("load", url, "--shared", address, "--cache-dir", pipectl.path("1"))
        #expect(loaded.lines == ["\(url): 64×48, network"], "\(loaded.errors)")
        let again = try await pipectl.run("load", url, "--shared", address, "--cache-dir", pipectl.path("2"))
        #expect(again.lines == ["\(url): 64×48, shared"], "\(again.errors)")
        let thumb = try await pipectl.run(
            "thumb", url, "-s", "32x32", "-o", pipectl.path("a.png"), "--shared", address, "--cache-dir",
            pipectl.path("3"))
        #expect(thumb.status == 0, "\(thumb.errors)")
        let batch = try await pipectl.run(
            "batch", url, "-s", "32x32", "-o", pipectl.path("out"), "--shared", address, "--cache-dir",
            pipectl.path("4"),
            "--no-isolate")
        #expect(batch.status == 0, "\(batch.errors)")
        let fetched = try await pipectl.run("prefetch", url, "--shared", address, "--cache-dir", pipectl.path("5"))
        #expect(fetched.lines == ["\(url): shared", "1 in the cache"], "\(fetched.errors)")
        #expect(origin.log.requests.count == 1)
    }

    @Test("keeps large responses in a bucket, which is a source too", .withS3)
    func blobs() async throws {
        let store = try await S3Server(.moto)
        let large = Picture.png(PixelSize(width: 400, height: 300), with: [1, 2, 3])
        origin.route("/large.png") { _ in .init(headers: [.cacheControl: "max-age=600"], body: large) }
        try await store.send(.put, "a.png", body: large)
        let environment = [
            "AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "hunter2",
            "AWS_ENDPOINT_URL_S3": store.endpoint.url.absoluteString, "PIPECTL_SHARED": address,
            "PIPECTL_BLOBS": "s3://images/fleet",
        ]
        let url = origin.url("/large.png").absoluteString
        for (folder, source) in [("1", "network"), ("2", "shared")] {
            let loaded = try await pipectl.run(["load", url, "--cache-dir", pipectl.path(folder)], environment)
            #expect(loaded.lines == ["\(url): 400×300, \(source)"], "\(loaded.errors)")
        }
        let source = try await pipectl.run(["load", "s3://images/a.png"], environment)
        #expect(source.lines == ["s3://images/a.png: 400×300, network"], "\(source.errors)")
        let doctor = try await pipectl.run(["doctor"], environment)
        #expect(doctor.text.contains("large responses are written once"), "\(doctor.text)")
        #expect(!(doctor.text + doctor.errors).contains("hunter2"))
    }

    @Test("deletes the objects of removed images with the rest", .withS3)
    func purgingBlobs() async throws {
        let store = try await S3Server(.moto)
        let large = Picture.png(PixelSize(width: 400, height: 300), with: [1, 2, 3])
        origin.route("/large.png") { _ in .init(headers: [.cacheControl: "max-age=600"], body: large) }
        let url = origin.url("/large.png").absoluteString
        let environment = [
            "AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "hunter2",
            "AWS_ENDPOINT_URL_S3": store.endpoint.url.absoluteString, "PIPECTL_SHARED": address,
            "PIPECTL_BLOBS": "s3://images/fleet",
        ]
        #expect(try await pipectl.run(["prefetch", url], environment).status == 0)
        #expect(try await pipectl.run(["cache", "rm", url], environment).status == 0)
        #expect(try await store.names().count == 1)
        let purged = try await pipectl.run(["cache", "purge"], environment)
        #expect(purged.lines == ["1 removed, 1 deleted from the bucket"], "\(purged.errors)")
        #expect(try await store.names() == [])
        let again = try await pipectl.run(["cache", "purge", "--json"], environment)
        #expect(try again.objects().first?["objects"] as? Int == 0, "\(again.text)\(again.errors)")
        store.kill()
        let gone = try await pipectl.run(["cache", "purge"], environment)
        #expect(gone.status == 1 && gone.errors.contains("objects can't be removed"), "\(gone.errors)")
        #expect(!gone.errors.contains("hunter2"))
    }

    @Test("shows and empties the shared tier")
    func cache() async throws {
        for name in ["a", "b"] {
            _ = try await pipectl.run("prefetch", origin.url("/\(name).png").absoluteString, "--shared", address, "-q")
        }
        let stats = try await pipectl.run("cache", "stats", "--shared", address)
        #expect(stats.text.hasPrefix("\(address): 2 responses, "), "\(stats.text)\(stats.errors)")
        let list = try await pipectl.run("cache", "ls", "--shared", address, "--json")
        #expect(
            try list.objects().compactMap { $0["url"] as? String }.sorted().map { $0.suffix(6) } == [
                "/a.png", "/b.png",
            ])
        let removed = try await pipectl.run(
            "cache", "rm", "--shared", address, origin.url("/a.png").absoluteString)
        #expect(removed.status == 0, "\(removed.errors)")
        #expect(removed.text.hasSuffix("/a.png: 1 removed, 0 processes heard of it\n"), "\(removed.text)")
        #expect(try await pipectl.run("cache", "ls", "--shared", address).lines.count == 1)
        let untagged = try await pipectl.run("cache", "rm", "--shared", address, "--tag", "/b.png", "--tag", "none")
        #expect(untagged.status == 1)
        #expect(untagged.lines == ["/b.png: 1 removed, 0 processes heard of it"], "\(untagged.errors)")
        #expect(untagged.errors.contains("none: nothing is stored, 0 processes heard of it."), "\(untagged.errors)")
        #expect(try await pipectl.run("cache", "ls", "--shared", address).lines.isEmpty)
        _ = try await pipectl.run("prefetch", origin.url("/c.png").absoluteString, "--shared", address, "-q")
        // With that, this machine has also removed the others from its own tiers.
        #expect(try await pipectl.run("cache", "rm", "--tag", "all").text == "all: 1 removed\n")
        #expect(try await pipectl.run("cache", "rm").status != 0)
        let purged = try await pipectl.run("cache", "purge", "--shared", address)
        #expect(purged.status == 0, "\(purged.errors)")
        let empty = try await pipectl.run("cache", "stats", "--shared", address)
        #expect(empty.text.hasPrefix("\(address): 0 responses, "), "\(empty.text)\(empty.errors)")
        #expect(try await pipectl.run("cache", "ls", "--shared", address).lines.isEmpty)
    }

    @Test("finds what programs with another namespace share, as an option or in the URL")
    func namespaces() async throws {
        let other = "\(address)?namespace=thumbnails"
        _ = try await pipectl.run("prefetch", url, "--shared", other, "-q")
        #expect(try await pipectl.run("cache", "ls", "--shared", address).lines.isEmpty)
        #expect(try await pipectl.run("cache", "ls", "--shared", other).lines.count == 1)
        let named = ["--shared", address, "--namespace", "thumbnails"]
        #expect(try await pipectl.run(["cache", "rm", url] + named, [:]).text.contains("1 removed"))
        #expect(try await pipectl.run(["cache", "rm", url] + named, [:]).status == 1)
        let alone = try await pipectl.run("cache", "ls", "--namespace", "thumbnails")
        #expect(alone.status == 2 && alone.errors.contains("--namespace needs --shared."), "\(alone.errors)")
    }

    @Test("is used by a user who may do nothing that is dangerous")
    func noDanger() async throws {
        try server.send("ACL SETUSER images on >secret ~pipeline:* &pipeline:* +@all -@dangerous")
        let (stats, errors) = try await useVerbs("unix://images:secret@\(server.socket)")
        #expect(stats == "unix://…@\(server.socket): 1 responses\n")
        #expect(errors == "")
        let address = "unix://images:secret@\(server.socket)"
        #expect(try await pipectl.run("doctor", "--shared", address).text.contains("allow this user INFO"))
    }

    @Test("works for a user with the rights in the page about fleets, and no more")
    func leastRights() async throws {
        for rights in [AccessControlLines.member, AccessControlLines.verbs] {
            try server.send(AccessControlLines.command + rights.joined(separator: " "))
        }
        let address = "unix://images:secret@\(server.socket)"
        let (stats, errors) = try await useVerbs(address)
        #expect(stats.contains(": 1 responses, ") && errors == "")
        #expect(try server.send("ACL LOG") == "*0")
        let doctor = try await pipectl.run("doctor", "--shared", address, "--json").objects()
        let shared = doctor.filter { $0["kind"] as? String == "shared" }
        #expect(shared.count == 6 && shared.allSatisfy { $0["ok"] as? Bool == true }, "\(shared)")
    }

    /// Loads, and uses each of the cache's verbs.
    /// - Returns: What `stats` printed, and all messages.
    private func useVerbs(_ address: String) async throws -> (stats: String, errors: String) {
        var errors = ""
        func run(_ arguments: String...) async throws -> String {
            let result = try await pipectl.run(arguments + ["--shared", address], [:])
            #expect(result.status == 0, "\(arguments): \(result.errors)")
            errors += result.errors
            return result.text
        }
        _ = try await run("prefetch", url, "-q")
        let stats = try await run("cache", "stats")
        #expect(try await run("cache", "ls").contains("/cat.png"))
        #expect(try await run("cache", "rm", url).contains("1 removed"))
        _ = try await run("load", url, "--cache-dir", pipectl.path("other"))
        #expect(try await run("cache", "rm", "--tag", "all").contains("1 removed"))
        _ = try await run("load", url, "--cache-dir", pipectl.path("third"))
        #expect(try await run("cache", "purge") == "1 removed\n")
        return (stats, errors)
    }

    @Test("is checked by the doctor, who advises")
    func doctor() async throws {
        let well = try await pipectl.run("doctor", "--shared", address)
        let lines = well.lines.filter { $0.contains(" shared ") }
        #expect(lines.count == 6 && lines.allSatisfy { $0.hasPrefix("ok ") }, "\(lines)")
        #expect(lines[0].contains("Redis ") && lines[0].contains("set maxmemory"))
        #expect(lines[4].contains("noeviction: ") && lines[4].contains("set maxmemory-policy to volatile-lru"))
        try server.send("ACL SETUSER images on >secret ~* resetchannels +@all -hset")
        try server.send("CONFIG SET save \"3600 1\"")
        let ill = try await pipectl.run("doctor", "--shared", "unix://images:secret@\(server.socket)", "--json")
        #expect(ill.status == 1)
        let wrong = try ill.objects().filter { $0["ok"] as? Bool == false && $0["kind"] as? String == "shared" }
        #expect(wrong.compactMap { $0["name"] as? String } == ["rights", "messages", "persistence"])
        #expect(
            wrong[0]["state"] as? String == "some are missing: run ACL SETUSER images +hset &pipeline:*", "\(wrong[0])")
        server.kill()
        let gone = try await pipectl.run("doctor", "--shared", address)
        #expect(gone.status == 1)
        #expect(gone.lines.filter { $0.contains(" shared ") }.count == 1)
        #expect(gone.lines.contains { $0.hasPrefix("WRONG shared") && $0.contains("can't be used") })
    }

    @Test("shares in a cluster of one shard, with a namespace in braces")
    func cluster() async throws {
        let cluster = try RedisServer("--cluster-enabled", "yes", "--cluster-port", "\(try freePort())")
        try cluster.send("CLUSTER ADDSLOTSRANGE 0 16383")
        while (try? cluster.send("SET up 1")) != "+OK" { try Task.checkCancellation() }
        let address = "unix://\(cluster.socket)"
        let named = ["--shared", address, "--namespace", "{img}"]
        _ = try await pipectl.run(["prefetch", url, "-q"] + named, [:])
        #expect(try await pipectl.run(["cache", "ls"] + named, [:]).lines.count == 1)
        #expect(try await pipectl.run(["cache", "rm", url] + named, [:]).text.contains("1 removed"))
        let lines = try await pipectl.run(["doctor"] + named, [:]).lines.filter { $0.contains(" shared ") }
        #expect(lines.count == 6 && lines.allSatisfy { $0.hasPrefix("ok ") }, "\(lines)")
        let without = try await pipectl.run("doctor", "--shared", address)
        #expect(without.lines.contains { $0.hasPrefix("WRONG shared") && $0.contains("namespace in braces") })
    }

    @Test(
        "is checked by the doctor over TLS, who says what to change",
        .enabled("openssl isn't installed") { EncryptedRedis.isInstalled })
    func encrypted() async throws {
        let redis = try EncryptedRedis(try Certificates())
        let ca = "ca=\(redis.certificates.certificate("authority"))"
        let well = try await pipectl.run("doctor", "--shared", redis.url(ca))
        #expect(well.lines.contains { $0.hasPrefix("ok") && $0.contains("Redis ") }, "\(well.text)")
        for (address, words) in [
            (redis.url(), "?ca=PATH"), (redis.url(ca, "server-name=other"), "?server-name=NAME"),
            (redis.url(scheme: "redis"), "rediss://"),
        ] {
            let wrong = try await pipectl.run("doctor", "--shared", address)
            #expect(wrong.status == 1)
            #expect(wrong.lines.contains { $0.hasPrefix("WRONG shared") && $0.contains(words) }, "\(wrong.text)")
        }
    }

    @Test("loads without the shared tier while the server is gone, which the cache's verbs say")
    func gone() async throws {
        server.kill()
        let loaded = try await pipectl.run("load", url, "--shared", address)
        #expect(loaded.lines == ["\(url): 64×48, network"])
        #expect(loaded.errors.contains("can't be used"))
        for verb in [["stats"], ["ls"], ["purge"], ["rm", url]] {
            let result = try await pipectl.run(["cache"] + verb + ["--shared", address], [:])
            #expect(result.status == 1 && result.errors.contains("can't be used"), "\(verb)")
        }
    }

    @Test("prints its list, and takes its stages by their names")
    func plan() async throws {
        let plan = try await pipectl.run("plan", "--shared", "redis://cache.internal")
        let names = plan.lines.map { $0.drop { $0 == " " } }
        #expect(
            names.contains("Lookup(shared)") && names.contains("Lease(shared) {") && names.contains("Store(shared)"))
        let yaml = """
            - resolveIdentifier
            - sharedLookup: http
            - fleetLease: {patience: 5, stages: [fetch]}
            - sharedResult: [decode, encode: webp]
            - sharedStore
            """
        try Data(yaml.utf8).write(to: pipectl.folder.appending(path: "list.yaml"))
        let file = try await pipectl.run("plan", "--pipeline", "list.yaml", "--shared", "redis://cache.internal")
        #expect(file.lines.contains("Lookup(shared, http rules)"), "\(file.errors)")
        #expect(file.lines.contains("Results(shared) {"))
        let without = try await pipectl.run("plan", "--pipeline", "list.yaml")
        #expect(without.status == 2 && without.errors.contains("list.yaml:2:3") && without.errors.contains("--shared"))
    }

    @Test(
        "refuses what it can't use, without credentials",
        arguments: [
            (["--shared", "http://me:hunter2@cache"], "redis://"),
            (["--shared", "redis://me:hunter2@cache?ca=/a"], "TLS"),
            (["--blobs", "s3://images"], "--shared"),
            (["--shared", "redis://cache", "--blobs", "images"], "s3://bucket"),
            (["--shared", "redis://cache", "--policy", "ignoreCache"], "returnCacheElseLoad"),
            (["--shared", "redis://cache", "--cache-delay", "1"], "delays"),
        ])
    func refusing(_ options: [String], _ words: String) async throws {
        let result = try await pipectl.run(["load", "http://127.0.0.1/a.png"] + options, [:])
        #expect(result.status == 2)
        #expect(result.errors.contains(words) && !result.errors.contains("hunter2"), "\(result.errors)")
    }

    @Test("is a setting, which is printed without its password")
    func setting() async throws {
        let printed = try await pipectl.run(
            ["--print-config"], ["PIPECTL_SHARED": "redis://me:hunter2@cache.internal:6379"])
        #expect(printed.text.contains("shared: redis://…@cache.internal:6379"), "\(printed.text)")
        #expect(!printed.text.contains("hunter2"))
    }
}
