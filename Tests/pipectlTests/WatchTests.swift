import Foundation
import TestFixtures
import Testing

@Suite("pipectl watch", .onLinux)
struct WatchTests {
    private let pipectl: Pipectl

    init() throws {
        pipectl = try Pipectl()
        try pipectl.add("good/jpeg-greyscale.jpg", as: "in/a.jpg")
    }

    private func watch(_ arguments: String...) throws -> Coprocess {
        try Coprocess(pipectl, verb: ["watch", "in", "-s", "8", "-o", "out", "--json"] + arguments)
    }

    /// The input of the next result, and what became of it.
    private func next(_ watching: Coprocess) async throws -> String {
        let object = try #require(try await watching.next())
        return "\(object["input"] ?? "") \(object["status"] ?? "")"
    }

    private func shell(_ script: String) async throws {
        let result = try await pipectl.shell(script)
        #expect(result.status == 0, "\(result.errors)")
    }

    @Test("works on what is there, and on what is copied, moved or linked there")
    func comes() async throws {
        let watching = try watch()
        #expect(try await next(watching) == "in/a.jpg done")
        for (name, script) in [
            ("b", "cp in/a.jpg in/b.jpg"), ("c", "mv b.jpg in/c.jpg"), ("d", "ln in/a.jpg in/d.jpg"),
        ] {
            try await shell("cp in/a.jpg b.jpg; \(script)")
            #expect(try await next(watching) == "in/\(name).jpg done")
            #expect(pipectl.exists("out/\(name).jpg"))
        }
        watching.signal(SIGINT)
        #expect(await watching.status() == 130)
    }

    @Test("plans what is there and ends with --dry-run, also in an empty folder")
    func plans() async throws {
        for expected in ["in/a.jpg planned", ""] {
            let watching = try watch("--dry-run")
            if !expected.isEmpty { #expect(try await next(watching) == expected) }
            #expect(await watching.status() == 0)
            try await shell("rm -f in/*")
        }
    }

    @Test("waits until a file is closed")
    func closed() async throws {
        let bytes = try pipectl.content("in/a.jpg")
        let slow = try #require(fopen(pipectl.path("in/slow.jpg"), "w"))
        fwrite(bytes, 1, bytes.count / 2, slow)
        fflush(slow)
        let watching = try watch()
        #expect(try await next(watching) == "in/a.jpg done")
        try await shell("cp in/a.jpg in/whole.jpg")
        #expect(try await next(watching) == "in/whole.jpg done")
        fwrite(Array(bytes[(bytes.count / 2)...]), 1, bytes.count - bytes.count / 2, slow)
        fclose(slow)
        #expect(try await next(watching) == "in/slow.jpg done")
    }

    @Test("makes a result again when its source changes, leaves others' files, and survives failures")
    func changes() async throws {
        try await shell("mkdir out; echo precious >out/theirs.jpg")
        let watching = try watch()
        #expect(try await next(watching) == "in/a.jpg done")
        let made = try pipectl.content("out/a.jpg")
        try FileManager.default.removeItem(atPath: pipectl.path("in/a.jpg"))
        try pipectl.add("good/jpeg-exif-xmp-icc.jpg", as: "in/a.jpg")
        #expect(try await next(watching) == "in/a.jpg done")
        #expect(try pipectl.content("out/a.jpg") != made)
        try await shell("cp in/a.jpg in/theirs.jpg")
        #expect(try await next(watching) == "in/theirs.jpg failed")
        #expect(try pipectl.content("out/theirs.jpg") == Array("precious\n".utf8))
        try await shell("echo no image >in/bad.jpg")
        #expect(try await next(watching) == "in/bad.jpg failed")
        try await shell("cp in/a.jpg in/good.jpg")
        #expect(try await next(watching) == "in/good.jpg done")
    }

    @Test("leaves what an earlier run made")
    func again() async throws {
        for status in ["done", "skipped"] {
            let watching = try watch()
            #expect(try await next(watching) == "in/a.jpg \(status)")
            watching.signal(SIGTERM)
            #expect(await watching.status() == 143)
        }
    }

    @Test("follows no links, leaves out what is hidden, and goes into folders below if asked to")
    func folders() async throws {
        try await shell(
            "mkdir -p other in/deep; cp in/a.jpg other/; mv in/a.jpg in/deep/; cp other/a.jpg in/.hidden.jpg; ln -s ../other in/link; ln -s ../other/a.jpg in/linked.jpg"
        )
        let watching = try watch("-r")
        #expect(try await next(watching) == "in/deep/a.jpg done")
        #expect(pipectl.exists("out/deep/a.jpg"))
        try await shell("mkdir -p new/er; cp other/a.jpg new/er; mv new in/; cp other/a.jpg other/b.jpg")
        #expect(try await next(watching) == "in/new/er/a.jpg done")
        try await shell("mv in/new away; cp other/a.jpg away/er/b.jpg; cp other/a.jpg in/deep/c.jpg")
        #expect(try await next(watching) == "in/deep/c.jpg done")
        let flat = try watch("--journal", "journal")
        try await shell("cp other/a.jpg in/deep/d.jpg; cp other/a.jpg in/e.jpg")
        #expect(try await next(flat) == "in/e.jpg done")
    }

    @Test("finds what came while events were lost")
    func overflow() async throws {
        let watching = try watch()
        #expect(try await next(watching) == "in/a.jpg done")
        watching.signal(SIGSTOP)
        let limit = try String(contentsOfFile: "/proc/sys/fs/inotify/max_queued_events", encoding: .utf8)
        let events = try #require(Int(limit.trimmingCharacters(in: .whitespacesAndNewlines)))
        // Each is made and closed.
        for number in 0...events / 2 { close(open(pipectl.path("in/\(number).txt"), O_CREAT | O_WRONLY, 0o600)) }
        try await shell("cp in/a.jpg in/last.jpg")
        watching.signal(SIGCONT)
        var seen: Set<String> = []
        while !seen.contains("in/last.jpg done") { seen.insert(try await next(watching)) }
        #expect(seen.isSubset(of: ["in/a.jpg skipped", "in/last.jpg done"]))
    }

    @Test("ends where the folder goes, or there is none")
    func gone() async throws {
        let watching = try watch()
        #expect(try await next(watching) == "in/a.jpg done")
        try await shell("mv in elsewhere")
        #expect(await watching.status() == 1)
        for folder in ["in", "elsewhere/a.jpg"] {
            let result = try await pipectl.run("watch", folder, "-o", "out")
            #expect(result.status == 1)
            #expect(result.errors.contains("There is no such folder."), "\(result.errors)")
        }
    }

    @Test(
        "refuses an output inside of the folder, whatever it is called",
        arguments: ["in", "in/out", "in/deep/out", "./in/../in/x", "link/out", "in/{name}-small.jpg", "none/../in/x"])
    func inside(output: String) async throws {
        try await shell("ln -s in link")
        let result = try await pipectl.run("watch", "in", "-o", output)
        #expect(result.status == 2, "\(result.text)")
        #expect(result.errors.contains("watched folder") || result.errors.contains("'..'"), "\(result.errors)")
        #expect(try await pipectl.shell("cd in; pipectl watch . -o '{dir}/{name}.png'").status == 2)
    }
}

#if !LINUX
@Suite("pipectl watch where folders can't be watched")
struct WatchElsewhereTests {
    @Test("fails, and says what to run instead")
    func refuses() async throws {
        let pipectl = try Pipectl()
        let result = try await pipectl.shell("mkdir in; pipectl watch in -s 8 -o out")
        #expect(result.status == 1)
        #expect(result.errors.contains("on Linux only") && result.errors.contains("batch --resume"))
    }
}
#endif
