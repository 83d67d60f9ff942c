import Foundation
import HTTPTypes
import PipelineTesting
import TestFixtures
import Testing

@Suite("pipectl load")
struct LoadTests {
    private let pipectl: Pipectl
    private let origin: ScriptedOrigin

    init() throws {
        pipectl = try Pipectl()
        let photo = try Pictures.bytes("good/jpeg-progressive-444.jpg")
        origin = try ScriptedOrigin { request in
            let fields: HTTPFields = [.eTag: "\"1\"", .cacheControl: "max-age=3600"]
            return request.headers[.ifNoneMatch] == nil
                ? .init(headers: fields, body: photo) : .init(status: 304, headers: fields)
        }
    }

    private var url: String { origin.url("/photo.jpg").absoluteString }

    private func exists(_ name: String) -> Bool { FileManager.default.fileExists(atPath: pipectl.path(name)) }

    private func bytes(_ name: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: URL(filePath: pipectl.path(name))))
    }

    @Test("writes the image in the format that the output's extension names, fitted into the box")
    func formats() async throws {
        let magic: [(String, [UInt8])] = [
            ("a.jpg", [0xff, 0xd8, 0xff]), ("a.png", [0x89, 0x50, 0x4e, 0x47]), ("a.webp", Array("RIFF".utf8)),
            ("a.gif", Array("GIF8".utf8)), ("a.tif", Array("II".utf8)), ("a.avif", [0, 0, 0]),
        ]
        for (name, start) in magic {
            let result = try await pipectl.run("load", url, "-o", name, "--max-pixel-size", "64x100", "--json")
            #expect(result.status == 0, "\(result.errors)")
            #expect(try bytes(name).starts(with: start))
            let object = try #require(try result.objects().first)
            #expect(object["width"] as? Int == 64)
            #expect(object["height"] as? Int == 47)
            #expect(object["nativeWidth"] as? Int == 640)
            #expect(object["bytes"] as? Int == (try bytes(name).count))
        }
        #expect(origin.log.requests.count == 1)
    }

    @Test("prints one object a load with every field, null where there is nothing")
    func json() async throws {
        let result = try await pipectl.run("load", url, "-o", "a.png", "--json")
        let object = try #require(try result.objects().first)
        #expect(
            Set(object.keys) == [
                "input", "output", "source", "stale", "width", "height", "nativeWidth", "nativeHeight", "bytes", "key",
                "trace", "error",
            ])
        #expect(object["input"] as? String == url)
        #expect(object["output"] as? String == "a.png")
        #expect(object["source"] as? String == "network")
        #expect(object["stale"] as? Bool == false)
        #expect((object["key"] as? String)?.count == 64)
        #expect(object["error"] is NSNull)
        let trace = try #require(object["trace"] as? [[String: Any]])
        #expect(trace.contains { $0["stage"] as? String == "Fetch" && $0["outcome"] as? String == "done" })
        #expect(trace.allSatisfy { ($0["ms"] as? Double ?? -1) >= 0 })
    }

    @Test("goes to network, then disk, then the origin's 304; ignoreCache asks for the whole image again")
    func sources() async throws {
        func source(_ arguments: String...) async throws -> String? {
            let (output, errors) = (Pipe(), Pipe())
            let process = try pipectl.start(["load", url, "--json"] + arguments, output: output, errors: errors)
            let bytes = await Pipectl.bytes(of: output)
            process.waitUntilExit()
            return (try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any])?["source"] as? String
        }
        #expect(try await source() == "network")
        #expect(try await source() == "disk")
        #expect(try await source("--expire-after", "30d") == "disk")
        #expect(try await source("--expire-after", "0") == "revalidated")
        #expect(try await source("--policy", "ignoreCache") == "network")
        #expect(try await source("--policy", "returnCacheDontLoad") == "disk")
        #expect(try await source("--cache-dir", pipectl.path("elsewhere")) == "network")
        #expect(exists("elsewhere"))
        #expect(try await source("--identifier", "x") == "network")
    }

    @Test("ends a miss under returnCacheDontLoad with the code notCached and status 1")
    func notCached() async throws {
        let result = try await pipectl.run("load", url, "--policy", "returnCacheDontLoad", "--json")
        #expect(result.status == 1)
        let error = try #require(try result.objects().first?["error"] as? [String: Any])
        #expect(error["code"] as? String == "notCached")
        #expect(origin.log.requests.isEmpty)
    }

    @Test("reads standard input and writes standard output where it says -")
    func streams() async throws {
        let photo = try Pictures.bytes("good/jpeg-progressive-444.jpg")
        let result = try await pipectl.run("load", "-", "-o", "-", "--max-pixel-size", "32", input: photo)
        #expect(result.status == 0)
        #expect(result.output.starts(with: [0xFF, 0xD8, 0xFF]))
        #expect(result.errors.isEmpty)
        let both = try await pipectl.run("load", "-", "-o", "b.webp", "--json", input: photo)
        #expect(try both.objects().first?["source"] as? String == "inline")
    }

    @Test("loads several sources into a folder, and a failure of one does not stop the others")
    func several() async throws {
        try FileManager.default.createDirectory(atPath: pipectl.path("out"), withIntermediateDirectories: true)
        let good = Pictures.path("good/webp-lossy.webp")
        let result = try await pipectl.run(
            "load", url, good, "/no/such.png", Pictures.path("bad/zero-bytes.png"), "-o", "out", "--json")
        #expect(result.status == 1)
        #expect(
            try Set(FileManager.default.contentsOfDirectory(atPath: pipectl.path("out"))) == [
                "photo.jpg", "webp-lossy.webp",
            ])
        let objects = try result.objects()
        #expect(objects.count == 4)
        let codes = objects.compactMap { ($0["error"] as? [String: Any])?["code"] as? String }
        #expect(Set(codes) == ["fileNotFound", "undecodable"])
    }

    @Test("takes names with spaces, quotes, newlines and leading dashes")
    func oddNames() async throws {
        let photo = try Data(Pictures.bytes("good/webp-lossy.webp"))
        for name in ["a b.webp", "it's \"quoted\".webp", "two\nlines.webp", "-dash.webp", "ünïcödé.webp"] {
            try photo.write(to: URL(filePath: pipectl.path(name)))
            let result = try await pipectl.run("load", "-o", "out of \(name)", "--", name)
            #expect(result.status == 0, "\(result.errors)")
            #expect(exists("out of \(name)"))
        }
    }

    @Test(
        "says what is wrong with status 1, and leaves nothing half-written",
        arguments: [
            ("/no/such/file.png", "out.png", "no such file"), ("ftp://example.com/a.png", "out.png", "ftp"),
            ("http://127.0.0.1:1/a.png", "out.png", "127.0.0.1"), ("http://", "out.png", "URL"),
            ("good", "/proc/missing/out.png", "/proc/missing"), ("good", "out.xyz", "extension"),
            ("good", "out", "extension"), ("good", "out.heic", "extension"),
        ])
    func failures(source: String, output: String, expected: String) async throws {
        let input = source == "good" ? Pictures.path("good/webp-lossy.webp") : source
        let result = try await pipectl.run("load", input, "-o", output)
        #expect(result.status == 1)
        #expect(result.errors.contains(expected), "\(result.errors)")
        #expect(result.errors.hasPrefix("pipectl: "))
        let left = try FileManager.default.contentsOfDirectory(atPath: pipectl.folder.path)
        #expect(left.allSatisfy { $0 == "cache" })
    }

    @Test("asks for no source whose output is left")
    func kept() async throws {
        try Data("mine".utf8).write(to: URL(filePath: pipectl.path("a.png")))
        let left = try await pipectl.run("load", url, "-o", "a.png", "-n", "--json")
        #expect(left.status == 0)
        #expect(try left.objects().first?["source"] is NSNull)
        let refused = try await pipectl.run("load", url, "-o", "a.png", "--json")
        #expect(refused.status == 1)
        let error = try #require(try refused.objects().first?["error"] as? [String: Any])
        #expect(error["code"] as? String == "outputExists")
        #expect(try bytes("a.png") == Array("mine".utf8))
        #expect(origin.log.requests.isEmpty)
    }

    @Test("shows the trace on standard error when asked")
    func trace() async throws {
        let result = try await pipectl.run("load", url, "-o", "a.png", "--trace")
        #expect(result.errors.contains("Lookup"))
        #expect(result.errors.contains("Fetch"))
        #expect(result.lines.count == 1)
    }

    @Test("shows no credential, user info or query value in texts and traces")
    func redacts() async throws {
        let secret = "http://user:hunter2@127.0.0.1:\(origin.port)/missing?token=hunter2"
        origin.route("/missing") { _ in .init(status: 404) }
        let result = try await pipectl.run("load", secret, "--trace")
        #expect(result.status == 1)
        #expect(result.errors.contains("404"))
        #expect(!result.errors.contains("hunter2"))
    }

    @Test("asks this machine and its network unless only public addresses are allowed")
    func publicOnly() async throws {
        let result = try await pipectl.run("load", url, "--public-only", "--json")
        #expect(result.status == 1)
        let error = try #require(try result.objects().first?["error"] as? [String: Any])
        #expect(error["code"] as? String == "refused")
        #expect(origin.log.requests.isEmpty)
    }

    @Test("is interrupted with the status of the signal, and leaves no output behind", arguments: [SIGINT, SIGTERM])
    func interrupted(signal: Int32) async throws {
        let gate = try ScriptedOrigin.Gate()
        origin.route("/slow.jpg") { _ in .init(body: "x").held(until: gate) }
        let (output, errors) = (Pipe(), Pipe())
        let process = try pipectl.start(
            ["load", origin.url("/slow.jpg").absoluteString, "-o", "slow.png"], output: output, errors: errors)
        await origin.until { $0.requests.count == 1 }
        kill(process.processIdentifier, signal)
        process.waitUntilExit()
        #expect(process.terminationStatus == 128 + signal)
        #expect(!exists("slow.png"))
        gate.open()
    }
}
