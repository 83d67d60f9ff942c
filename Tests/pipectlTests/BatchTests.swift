import Foundation
import TestFixtures
import Testing

@Suite("pipectl batch")
struct BatchTests {
    private let pipectl: Pipectl

    init() throws {
        pipectl = try Pipectl()
        for path in ["in/a.jpg", "in/sub/b.jpg", "in/sub/deep er/c.jpg", "in/.hidden/d.jpg"] {
            try pipectl.add("good/jpeg-greyscale.jpg", as: path)
        }
        try pipectl.add("good/webp-lossy.webp", as: "in/sub/e.webp")
        try Data("text".utf8).write(to: pipectl.folder.appending(path: "in/readme.txt"))
    }

    @Test("mirrors the tree, leaving out hidden files and files that aren't images")
    func mirrors() async throws {
        let flat = try await pipectl.shell("pipectl batch in -s 8 -o flat")
        #expect(flat.status == 0, "\(flat.errors)")
        #expect(try pipectl.tree("flat").keys.sorted() == ["a.jpg"])
        let result = try await pipectl.shell("pipectl batch in -r -s 8 -o in/out")
        #expect(result.text.contains("4 done"))
        #expect(
            try pipectl.tree("in/out").keys.sorted() == ["a.jpg", "sub/b.jpg", "sub/deep er/c.jpg", "sub/e.webp"])
        let again = try await pipectl.shell("pipectl batch in -r -s 8 -o in/out -n")
        #expect(again.text.contains("0 done, 4 skipped"), "its own results are not sources: \(again.text)")
    }

    @Test("continues behind a WebP that is cut off within its header")
    func cutWebP() async throws {
        let whole = try Data(contentsOf: pipectl.folder.appending(path: "in/sub/e.webp"))
        for length in [20, 25, 29] {
            try whole.prefix(length).write(to: pipectl.folder.appending(path: "in/sub/cut\(length).webp"))
        }
        let result = try await pipectl.shell("pipectl batch in/sub -s 8 -o o")
        #expect(result.text.contains("2 done"), "\(result.text) \(result.errors)")
        #expect(try pipectl.tree("o").keys.sorted() == ["b.jpg", "e.webp"])
    }

    @Test("finds files by patterns, also with **, and takes lists from standard input and from files")
    func lists() async throws {
        func outputs(_ arguments: String) async throws -> [String] {
            let result = try await pipectl.shell(
                "rm -rf o; \(arguments.replacing("BATCH", with: "pipectl batch -s 4 -f png -o o"))")
            #expect(result.status == 0, "\(result.errors)")
            return try pipectl.tree("o").keys.sorted()
        }
        #expect(try await outputs("BATCH 'in/**/*.jpg'") == ["a.png", "sub/b.png", "sub/deep er/c.png"])
        #expect(try await outputs("BATCH 'in/sub/?.*'") == ["b.png", "e.png"])
        #expect(
            try await outputs("find in -name '*.jpg' | BATCH -") == [
                "in/.hidden/d.png", "in/a.png", "in/sub/b.png", "in/sub/deep er/c.png",
            ])
        #expect(
            try await outputs("find in/sub -name '*.jpg' -print0 | BATCH --files0-from -") == [
                "in/sub/b.png", "in/sub/deep er/c.png",
            ])
        #expect(try await outputs("printf 'in/a.jpg\\0' > list; BATCH --files0-from list") == ["in/a.png"])
    }

    @Test("fails the later one of colliding names, and offers only rules that keep them apart")
    func collisions() async throws {
        let result = try await pipectl.shell("cp in/a.jpg in/sub/a.jpg; pipectl batch in -r -s 8 -o 'out/{name}.png'")
        #expect(result.status == 1)
        #expect(result.text.contains("4 done, 1 failed"), "\(result.text)")
        #expect(result.errors.contains("in/sub/a.jpg: The result of in/a.jpg is also written to out/a.png."))
        #expect(result.errors.contains("Give --on-collision number."), "\(result.errors)")
        let other = try await pipectl.shell("cp in/sub/e.webp in/a.webp; pipectl batch in -s 8 -f png -o other")
        #expect(other.errors.contains("Give --on-collision keep-extension or number."), "\(other.errors)")
        let fixed = try await pipectl.shell("pipectl batch in -s 8 -f png -o 'fixed/{w}.png'")
        #expect(fixed.errors.contains("Put {name} or {index} into -o."), "\(fixed.errors)")
    }

    @Test("does a source that is listed twice once, and says so")
    func repeated() async throws {
        let result = try await pipectl.shell(
            "printf 'in/a.jpg\\nin/sub/b.jpg\\nin/a.jpg\\n' | pipectl batch - -s 8 -o o")
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.text.contains("in/a.jpg: it is listed more than once"), "\(result.text)")
        #expect(result.text.contains("2 done, 1 skipped"))
        let thumb = try await pipectl.shell("pipectl thumb in/a.jpg in/a.jpg -s 8 -o 'x/{name}.png'")
        #expect(thumb.status == 0 && thumb.text.contains("listed more than once"), "\(thumb.errors)")
        let srcset = try await pipectl.shell("pipectl srcset in/a.jpg in/a.jpg -w 8 -o 'y/{name}-{w}.png'")
        #expect(srcset.status == 0 && srcset.text.contains("listed more than once"), "\(srcset.errors)")
    }

    @Test("tells colliding names apart by their extensions or by numbers, whatever the shard")
    func tellsCollisionsApart() async throws {
        _ = try await pipectl.shell(
            "mkdir c; cp in/a.jpg c/a.jpg; cp in/sub/e.webp c/a.webp; cp in/a.jpg c/a-2.jpg; cp in/a.jpg c/b.jpg")
        let kept = try await pipectl.shell("pipectl batch c -s 8 -f png -o kept --on-collision keep-extension")
        #expect(kept.status == 0, "\(kept.errors)")
        #expect(try pipectl.tree("kept").keys.sorted() == ["a-2.png", "a.jpg.png", "a.webp.png", "b.png"])
        let numbered = try await pipectl.shell(
            """
            for n in 1 2; do pipectl batch c -s 8 -f png -o numbered --on-collision number --shard $n/2 || exit; done
            pipectl batch c -s 8 -f png -o numbered --on-collision number --shard 1/2 --resume
            """)
        #expect(numbered.status == 0, "\(numbered.errors)")
        #expect(try pipectl.tree("numbered").keys.sorted() == ["a-2.png", "a-3.png", "a.png", "b.png"])
        let same = try await pipectl.shell("pipectl batch c/a.jpg c/a.jpg --in-place -s 8 --on-collision number")
        #expect(same.status == 0)
        #expect(same.text.contains("1 done, 1 skipped"))
    }

    @Test("continues after a failure, or ends at it, as it is told", .onLinux)
    func failing() async throws {
        _ = try await pipectl.shell("for n in 0 1 2 3 4 5 6 7 8 9; do echo no > in/bad$n.jpg; done")
        let going = try await pipectl.shell("pipectl batch in -s 8 -o going")
        #expect(going.status == 1)
        #expect(going.text.contains("1 done, 10 failed"), "\(going.text)")
        #expect(going.errors.split(separator: "\n").count == 10)
        let ending = try await pipectl.shell("mv in/a.jpg in/z.jpg; pipectl batch in -s 8 -o ending --fail-fast -j 1")
        #expect(ending.status == 1)
        #expect(ending.text.contains("1 failed, 10 remaining"), "\(ending.text)")
    }

    @Test("shards of one list are disjoint and together the whole")
    func shards() async throws {
        _ = try await pipectl.shell("for n in $(seq 40); do cp in/a.jpg in/n$n.jpg; done")
        var all: [String] = []
        for number in 1...3 {
            let result = try await pipectl.shell("pipectl batch in -r -s 4 -o out --shard \(number)/3 --json")
            let inputs = try result.objects().compactMap { $0["input"] as? String }
            #expect(inputs.count > 4)
            all += inputs
        }
        #expect(all.count == 44)
        #expect(Set(all).count == 44)
        #expect(try await pipectl.shell("pipectl batch in -o out --shard 4/3").status == 2)
    }

    @Test("--resume does what is new or changed, and nothing twice")
    func resumes() async throws {
        func batch(_ more: String = "") async throws -> String {
            try await pipectl.shell("pipectl batch in -r -s 8 -o out \(more)").text
        }
        #expect(try await batch().contains("4 done,"))
        let first = try pipectl.tree("out")
        #expect(try await batch("--resume").contains("0 done, 4 skipped"))
        _ = try await pipectl.shell(
            "cp in/sub/e.webp in/new.webp; echo x >> in/a.jpg; rm out/sub/b.jpg; : > out/sub/e.webp")
        #expect(try await batch("--resume").contains("4 done, 1 skipped"))
        #expect(try pipectl.tree("out").filter { $0.key != "new.webp" } == first)
        #expect(try await batch("--resume -Q 10").contains("5 failed"), "results of other options are not its own")
        #expect(try pipectl.tree("out").filter { $0.key != "new.webp" } == first)
        #expect(try await batch().contains("5 failed"), "without --resume nothing is known")
    }

    @Test("a journal whose last lines a power cut damaged costs no more than these")
    func damagedJournal() async throws {
        let batch = "pipectl batch in -r -s 8 -o out --journal j --resume"
        #expect(try await pipectl.shell(batch).text.contains("4 done,"))
        let result = try await pipectl.shell("truncate -s -30 j; head -c 100 /dev/urandom >> j; rm out/a.jpg; \(batch)")
        #expect(
            result.text.contains("1 done, 3 skipped") || result.text.contains("2 done, 2 skipped"), "\(result.text)")
        #expect(try await pipectl.shell(batch).text.contains("0 done, 4 skipped"))
    }

    @Test("Ctrl-C ends it with status 130 and a summary, and --resume does the rest")
    func interrupted() async throws {
        _ = try await pipectl.shell("for n in $(seq 300); do cp in/a.jpg in/n$n.jpg; done")
        let (output, errors) = (Pipe(), Pipe())
        let process = try pipectl.start(
            ["batch", "in", "-s", "200", "-o", "out", "-j", "1"], output: output, errors: errors)
        let first = output.fileHandleForReading.availableData
        #expect(!first.isEmpty)
        kill(process.processIdentifier, SIGINT)
        let rest = String(decoding: await Pipectl.bytes(of: output), as: UTF8.self)
        #expect(await Pipectl.status(of: process) == 130)
        #expect(rest.contains("remaining (continue with --resume)"))
        let made = try pipectl.tree("out").count
        #expect(made < 301)
        let resumed = try await pipectl.shell("pipectl batch in -s 200 -o out --resume")
        #expect(resumed.text.contains("\(301 - made) done, \(made) skipped"), "\(resumed.text.suffix(200))")
    }

    @Test("--resume leaves a file alone that it did not write")
    func foreign() async throws {
        _ = try await pipectl.shell("mkdir out; cp in/sub/e.webp out/a.jpg")
        let result = try await pipectl.shell("pipectl batch in -s 8 -o out --resume")
        #expect(result.status == 1)
        #expect(result.errors.contains("out/a.jpg"))
        #expect(try pipectl.content("out/a.jpg") == Pictures.bytes("good/webp-lossy.webp"))
    }

    @Test("refuses a second batch with the same journal")
    func alone() async throws {
        let result = try await pipectl.shell("flock j pipectl batch in -s 8 -o out --journal j")
        #expect(result.status == 1)
        #expect(result.errors.contains("another batch"))
    }

    @Test("shows a bar on a terminal, as wide as that is, and lines elsewhere")
    func terminal() async throws {
        let wide = try await pipectl.shell(
            "script -qec 'stty cols 100; pipectl batch in -r -s 8 -o wide' /dev/null", environment: ["LANG": "C.UTF-8"])
        #expect(wide.text.contains("████  4/4  100 %"), "\(wide.text)")
        #expect(!wide.text.contains("→"))
        let small = try await pipectl.shell("script -qec 'stty cols 12; pipectl batch in -r -s 8 -o small' /dev/null")
        #expect(small.text.contains("4/4  100 %"))
        #expect(!small.text.contains("#"))
        let piped = try await pipectl.shell("pipectl batch in -r -s 8 -o piped 2>&1")
        #expect(piped.lines.filter { $0.contains(" → ") }.count == 4)
        #expect(!piped.text.contains("\u{1B}"))
    }

    @Test("a batch that is killed ten times ends with what an undisturbed one makes, and nothing is done twice")
    func killed() async throws {
        let count = 1000
        let images = ["png-basn0g01.png", "png-basi2c08.png", "png-tbbn3p08.png", "exif-orientation-3.jpg"]
        try FileManager.default.createDirectory(atPath: pipectl.path("many/x"), withIntermediateDirectories: true)
        for index in 0..<count {
            let image = images[index % images.count]
            let name = "many/\(index % 3 == 0 ? "x/" : "")\(index).\(image.suffix(3))"
            // A link costs less than a copy.
            try FileManager.default.createSymbolicLink(
                atPath: pipectl.path(name), withDestinationPath: Pictures.path("good/\(image)"))
        }
        let undisturbed = try await pipectl.shell("pipectl batch many -r -s 16 -f jpg -o whole -q")
        #expect(undisturbed.status == 0, "\(undisturbed.errors)")
        let expected = try pipectl.tree("whole")
        #expect(expected.count == count)

        var random = Generator(state: 4711)
        var done: [String: Int] = [:]
        for _ in 0..<10 {
            for input in try await started(killedAfter: Int.random(in: 1...80, using: &random)) {
                done[input, default: 0] += 1
            }
            for (name, bytes) in try pipectl.tree("parts")
            where !name.contains("/.pipectl-") && !name.hasPrefix(".pipectl-") {
                #expect(expected[name] == bytes, "\(name) is half-written")
            }
        }
        for input in try await started(killedAfter: nil) { done[input, default: 0] += 1 }
        #expect(try pipectl.tree("parts") == expected)
        #expect(done.values.allSatisfy { $0 == 1 })
        // What was in flight was written, and not told.
        #expect(done.count >= count - 10 * 4 && done.count <= count)
    }

    /// Runs the batch, kills it once this many results were reported, and returns the inputs that were.
    private func started(killedAfter limit: Int?) async throws -> [String] {
        let (output, errors) = (Pipe(), Pipe())
        let process = try pipectl.start(
            ["batch", "many", "-r", "-s", "16", "-f", "jpg", "-o", "parts", "--resume", "--json"], output: output,
            errors: errors)
        let lines = await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                var rest: [UInt8] = []
                var lines: [String] = []
                var chunk = [UInt8](repeating: 0, count: 4096)
                while true {
                    let count = read(output.fileHandleForReading.fileDescriptor, &chunk, chunk.count)
                    if count < 0 && errno == EINTR { continue }
                    if count <= 0 { break }
                    rest += chunk[..<count]
                    while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                        lines.append(String(decoding: rest[..<end], as: UTF8.self))
                        rest.removeSubrange(...end)
                    }
                    let told = lines.count { $0.contains("\"status\":\"done\"") }
                    if let limit, told >= limit { kill(process.processIdentifier, SIGKILL) }
                }
                continuation.resume(returning: lines)
            }
        }
        let status = await Pipectl.status(of: process)
        #expect(limit != nil || status == 0)
        return try lines.compactMap { try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any] }
            .filter { $0["status"] as? String == "done" }.compactMap { $0["input"] as? String }
    }

    /// The same moments in every run.
    private struct Generator: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state ^ (state >> 33)
        }
    }
}
