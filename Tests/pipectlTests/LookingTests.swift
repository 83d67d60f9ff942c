import Foundation
import HTTPTypes
import PipelineTesting
import TestFixtures
import Testing

@Suite("pipectl info, srcset, prefetch, cache and doctor")
struct LookingTests {
    private let pipectl: Pipectl

    init() throws {
        pipectl = try Pipectl()
        try pipectl.add("good/exif-orientation-6.jpg", as: "a b.jpg")
        try pipectl.add("good/webp-lossy-alpha.webp", as: "alpha.webp")
    }

    private func origin() throws -> ScriptedOrigin {
        let photo = try Pictures.bytes("good/webp-lossy.webp")
        return try ScriptedOrigin { request in
            request.target.hasPrefix("/no")
                ? .init(status: 404) : .init(headers: [.cacheControl: "max-age=600"], body: photo)
        }
    }

    @Test("info says size, format, orientation and more, as text, as fields and as JSON")
    func info() async throws {
        let text = try await pipectl.run("info", "a b.jpg", "alpha.webp")
        #expect(text.status == 0, "\(text.errors)")
        #expect(text.lines.count == 2)
        #expect(text.lines[0].hasPrefix("a b.jpg: ") && text.lines[0].contains("orientation 6"))
        #expect(text.lines[1].contains("512×256, webp, ") && text.lines[1].contains("with alpha"))
        let fields = try await pipectl.run(
            "info", "alpha.webp", "-F", "{name} {w}x{h} {format} {orientation} {alpha} {frames}")
        #expect(fields.text == "alpha 512x256 webp 1 true 1\n")
        let json = try await pipectl.shell("pipectl info 'a b.jpg' none.jpg --json < /dev/null")
        #expect(json.status == 1)
        let objects = try json.objects()
        #expect(objects.count == 2)
        #expect(objects[0]["orientation"] as? Int == 6)
        #expect(Set(objects[0].keys) == Set(objects[1].keys))
        #expect((objects[1]["error"] as? [String: Any])?["code"] as? String == "fileNotFound")
        #expect(try await pipectl.shell("pipectl info - < alpha.webp").text.hasPrefix("standard input: 512×256"))
    }

    @Test("info --hash adds placeholders, a perceptual hash and colours")
    func hashes() async throws {
        let text = try await pipectl.shell("pipectl info 'a b.jpg' --hash")
        #expect(text.status == 0, "\(text.errors)")
        #expect(
            text.lines.dropFirst().map { $0.split(separator: " ").first } == [
                "ThumbHash", "BlurHash", "dHash", "colours",
            ])
        let objects = try await pipectl.shell("pipectl info 'a b.jpg' --json --hash; pipectl info 'a b.jpg' --json")
            .objects()
        let hashes = try #require(objects[0]["hashes"] as? [String: Any])
        #expect(Set(hashes.keys) == ["thumbHash", "blurHash", "dHash", "colours"])
        #expect((hashes["dHash"] as? String)?.utf8.count == 16)
        #expect(objects[1]["hashes"] is NSNull && objects[1]["latitude"] is NSNull)
        #expect(try await pipectl.shell("pipectl info 'a b.jpg' --hash -F '{w}'").status == 2)
    }

    @Test("The help names the algorithm of each hash, and what strip keeps of places")
    func words() async throws {
        let info = try await pipectl.shell("pipectl info --help").text.replacing(/\s+/, with: " ")
        #expect(info.contains("dHash of Python's ImageHash"))
        #expect(info.contains("ThumbHash") && info.contains("BlurHash"))
        let strip = try await pipectl.shell("pipectl strip --help").text.replacing(/\s+/, with: " ")
        #expect(strip.contains("IPTC"))
        #expect(strip.contains("names of countries and cities"))
        #expect(strip.contains("home or abroad"))
    }

    @Test("info takes URLs, and says what is wrong")
    func infoOfURLs() async throws {
        let origin = try origin()
        let good = try await pipectl.run("info", origin.url("/a.webp?token=hunter2").absoluteString)
        #expect(good.status == 0, "\(good.errors)")
        #expect(good.text.contains("160×120") && !good.text.contains("hunter2"))
        let bad = try await pipectl.run("info", origin.url("/no.webp").absoluteString)
        #expect(bad.status == 1)
        #expect(bad.errors.contains("404"))
        for (arguments, expected) in [
            ("info .", "directory"), ("info /etc/passwd", "/etc/passwd"), ("info -F '{width}' alpha.webp", "-F"),
            ("info - -", "once"), ("info", "in"),
        ] {
            let result = try await pipectl.shell("pipectl \(arguments)")
            #expect(result.status != 0)
            #expect(result.errors.contains(expected), "\(result.errors)")
        }
    }

    @Test("srcset makes every width in every format, and enlarges nothing")
    func srcset() async throws {
        let result = try await pipectl.run("srcset", "alpha.webp", "-w", "64,128,512,1000", "-f", "webp,png", "--json")
        #expect(result.status == 0, "\(result.errors)")
        let names = [64, 128, 512].flatMap { ["alpha-\($0).png", "alpha-\($0).webp"] }
        let left = try FileManager.default.contentsOfDirectory(atPath: pipectl.folder.path)
        #expect(Set(left) == Set(names + ["a b.jpg", "alpha.webp"]))
        let objects = try result.objects()
        #expect(objects.compactMap { $0["width"] as? Int }.sorted() == [64, 64, 128, 128, 512, 512])
        #expect(objects.allSatisfy { ($0["width"] as? Int ?? 0) == ($0["height"] as? Int ?? 0) * 2 })
        let small = try await pipectl.run("srcset", "alpha.webp", "-w", "2000,3000", "-o", "s-{w}.{ext}")
        #expect(small.lines.count == 1 && pipectl.exists("s-512.webp"), "\(small.text) \(small.errors)")
        #expect(try await pipectl.run("srcset", "alpha.webp", "-w", "64").status == 1, "it exists")
        for arguments in [["-w", "0"], ["-w", "a"], ["-w", "64", "-f", "xyz"], ["-w", "64,128", "-o", "one.png"]] {
            let refused = try await pipectl.shell("pipectl srcset alpha.webp \(arguments.joined(separator: " "))")
            #expect(refused.status == 2, "\(arguments)")
        }
    }

    @Test("prefetch fills the cache, tells what failed, and asks for nothing twice")
    func prefetch() async throws {
        let origin = try origin()
        let urls = (1...5).map { origin.url("/\($0).webp").absoluteString } + [origin.url("/no.webp").absoluteString]
        try Data(urls.joined(separator: "\n").utf8).write(to: pipectl.folder.appending(path: "urls"))
        let first = try await pipectl.shell("pipectl prefetch - < urls")
        #expect(first.status == 1)
        #expect(first.text.contains("5 in the cache, 1 failed"), "\(first.text)")
        #expect(first.errors.contains("404"))
        let asked = origin.log.requests.count
        let again = try await pipectl.shell("head -5 urls | pipectl prefetch - --json")
        #expect(again.status == 0)
        #expect(try again.objects().compactMap { $0["source"] as? String } == Array(repeating: "disk", count: 5))
        #expect(origin.log.requests.count == asked)
        #expect(try await pipectl.run("prefetch", "alpha.webp").status == 1)
    }

    @Test("cache lists, counts, removes and empties; verbs that only look make no folder")
    func cache() async throws {
        let origin = try origin()
        let path = try await pipectl.run("cache", "path").lines.first
        #expect(path == pipectl.path("cache/pipeline"))
        for verb in ["stats", "ls", "prune", "purge"] {
            let result = try await pipectl.run("cache", verb)
            #expect(result.status == 0, "\(verb): \(result.errors)")
        }
        #expect(!pipectl.exists("cache"))

        let urls = ["/a.webp?token=hunter2", "/b.webp", "/c.webp"].map { origin.url($0).absoluteString }
        _ = try await pipectl.run("prefetch", urls[0], urls[1], urls[2])
        let listed = try await pipectl.run("cache", "ls")
        #expect(listed.lines.count == 3)
        #expect(listed.text.contains("/b.webp") && !listed.text.contains("hunter2"))
        let objects = try await pipectl.run("cache", "ls", "--json").objects()
        #expect(objects.allSatisfy { $0["status"] as? Int == 200 })
        let stats = try await pipectl.run("cache", "stats", "--json").objects().first
        #expect(stats?["entries"] as? Int == 3)
        #expect(try await pipectl.run("cache", "ls", "--older-than", "1h", "--created").text.isEmpty)

        #expect(try await pipectl.run("cache", "rm", urls[1]).text.contains("1 removed"))
        let key = try #require(
            objects.first { ($0["url"] as? String)?.hasSuffix("/c.webp") == true }?["key"] as? String)
        #expect(try await pipectl.run("cache", "rm", key).text.contains("1 removed"))
        #expect(try await pipectl.run("cache", "rm", urls[1]).status == 1)
        #expect(try await pipectl.run("cache", "prune", "--older-than", "30d").text == "0 removed, 1 left\n")
        #expect(try await pipectl.run("cache", "prune", "--max-size", "1").text == "1 removed, 0 left\n")
        _ = try await pipectl.run("prefetch", urls[2])
        #expect(try await pipectl.run("cache", "verify").status == 0)
        #expect(try await pipectl.run("cache", "purge").text == "1 removed\n")
        #expect(try await pipectl.run("cache", "ls").text.isEmpty)
    }

    @Test(
        "a folder of other files is not a cache: nothing in it is removed, and nothing is made",
        arguments: ["stats", "ls", "prune", "purge", "verify --repair", "rm http://localhost/a.webp"])
    func otherFolder(verb: String) async throws {
        let result = try await pipectl.shell(
            """
            mkdir -p proj/bodies empty; echo mine >proj/bodies/thesis.txt; pipectl cache \(verb) --cache-dir empty >&2
            pipectl cache \(verb) --cache-dir proj >&2; echo $?; find proj empty | sort
            """)
        #expect(result.text == "1\nempty\nproj\nproj/bodies\nproj/bodies/thesis.txt\n")
    }

    @Test(
        "a cache that can't be used is an error that says so, and never reads as an empty one",
        arguments: ["stats", "ls", "prune", "purge", "rm http://localhost/a.webp"])
    func unusableCache(verb: String) async throws {
        let setUps = [
            ("touch cache-file", "cache-file", "is not a folder"),
            ("touch cache-file", "cache-file/inner", "Not a directory"),
            ("mkdir -p other/bodies other/responses.sqlite", "other", "can't be used"),
        ]
        for (setUp, folder, reason) in setUps {
            let result = try await pipectl.shell("\(setUp); pipectl cache \(verb) --cache-dir \(folder)")
            #expect(result.status == 1)
            #expect(result.text.isEmpty)
            #expect(result.errors.contains(reason))
            #expect(result.errors.contains("--cache-dir"))
        }
    }

    @Test("a cache that can only be read gives what it has", .withMounts)
    func readOnlyCache() async throws {
        let (short, long) = (try Pictures.bytes("good/jpeg-greyscale.jpg"), [UInt8](repeating: 7, count: 100_000))
        let origin = try ScriptedOrigin { request in
            .init(headers: [.cacheControl: "max-age=60"], body: request.path == "/long" ? long : short)
        }
        let urls = ["/short", "/long"].map { origin.url($0).absoluteString }.joined(separator: " ")
        #expect(try await pipectl.shell("pipectl fetch \(urls)").status == 0)
        let more = origin.url("/more").absoluteString
        let script =
            "mount --bind cache cache && mount -o remount,bind,ro cache && ! touch cache/pipeline/a 2>/dev/null && "
            + "pipectl fetch \(urls) \(more) --json"
        let result = try await pipectl.shell("unshare --user --map-root-user --mount sh -c '\(script)'")
        #expect(result.status == 0, "\(result.errors)")
        #expect(try result.objects().map { $0["fromCache"] as? String } == ["hit", "hit", "miss"], "\(result.text)")
        #expect(origin.log.requests.count == 3)
        #expect(result.errors.split(separator: "\n").count { $0.contains("can only be read") } == 1, "\(result.errors)")
    }

    @Test("a load through a cache folder that is a file has its image, and one warning with the remedy")
    func fileForCache() async throws {
        let origin = try origin()
        let result = try await pipectl.shell(
            "touch cache-file; pipectl load \(origin.url("/a.webp").absoluteString) --cache-dir cache-file")
        #expect(result.status == 0)
        #expect(result.errors.components(separatedBy: "warning").count == 2, "\(result.errors)")
        #expect(result.errors.contains("remove it or choose another folder"))
    }

    @Test(
        "cache refuses what makes no sense",
        arguments: [
            "prune --older-than x", "ls --accessed", "ls --older-than 1d --accessed --created", "rm",
            "prune --max-size x",
        ])
    func cacheUsage(arguments: String) async throws {
        #expect(try await pipectl.shell("pipectl cache \(arguments)").status == 2)
    }

    @Test("doctor finds every codec and library, and prints an object a line", .onLinux)
    func doctor() async throws {
        let result = try await pipectl.run("doctor")
        #expect(result.status == 0, "\(result.text)")
        #expect(result.lines.allSatisfy { $0.hasPrefix("ok ") })
        let objects = try await pipectl.run("doctor", "--json").objects()
        let codecs = objects.filter { $0["kind"] as? String == "codec" }.compactMap { $0["name"] as? String }
        #expect(Set(codecs) == ["avif", "bmp", "gif", "heic", "jpeg", "jxl", "png", "svg+xml", "tiff", "webp"])
        #expect(objects.contains { $0["kind"] as? String == "limit" })
        #expect(!pipectl.exists("cache"))
    }

    @Test(
        "every verb has help with examples",
        arguments: [
            "load", "thumb", "convert", "run", "batch", "srcset", "montage", "strip", "info", "compare", "prefetch",
            "fetch", "plan", "doctor",
            "cache stats", "cache ls", "cache rm", "cache prune", "cache verify", "cache purge", "cache path",
        ])
    func help(verb: String) async throws {
        let result = try await pipectl.shell("pipectl \(verb) --help")
        #expect(result.status == 0)
        #expect(result.text.contains("Examples:") || verb == "cache path" && result.text.contains("pipectl cache path"))
    }

    @Test("completions are there for bash, zsh and fish", arguments: ["bash", "zsh", "fish"])
    func completions(shell: String) async throws {
        let result = try await pipectl.run("--generate-completion-script", shell)
        #expect(result.status == 0)
        #expect(result.text.contains("srcset") && result.text.contains("public-only"))
    }
}
