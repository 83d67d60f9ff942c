import Foundation
import Testing

@Suite("pipectl batch --resume and what isn't its own")
struct ResumeTests {
    private let pipectl: Pipectl

    init() throws {
        pipectl = try Pipectl()
        try pipectl.add("good/jpeg-greyscale.jpg", as: "in/a.jpg")
    }

    @Test("run any number of times, it never overwrites a file that it didn't make", arguments: ["", "--resume"])
    func foreign(first: String) async throws {
        _ = try await pipectl.shell("mkdir out; echo precious >out/a.jpg; pipectl batch in -s 8 -o out \(first)")
        for _ in 1...3 {
            let result = try await pipectl.shell("pipectl batch in -s 8 -o out --resume")
            #expect(result.status == 1)
            #expect(result.errors.contains("out/a.jpg"))
            #expect(try pipectl.content("out/a.jpg") == Array("precious\n".utf8))
        }
    }

    @Test("a result that the user has edited since, or emptied a file of their own, is the user's")
    func edited() async throws {
        _ = try await pipectl.shell("pipectl batch in -s 8 -o out; echo edited >out/a.jpg")
        for _ in 1...2 {
            #expect(try await pipectl.shell("pipectl batch in -s 8 -o out --resume").status == 1)
            #expect(try pipectl.content("out/a.jpg") == Array("edited\n".utf8))
        }
        _ = try await pipectl.shell("mkdir other; : >other/a.jpg")
        #expect(try await pipectl.shell("pipectl batch in -s 8 -o other --resume").status == 1)
        #expect(try pipectl.content("other/a.jpg").isEmpty)
    }

    @Test("a result of other options stays as it is")
    func otherOptions() async throws {
        _ = try await pipectl.shell("pipectl batch in -s 8 -o out")
        let made = try pipectl.content("out/a.jpg")
        for _ in 1...2 {
            #expect(try await pipectl.shell("pipectl batch in -s 9 -o out --resume").status == 1)
            #expect(try pipectl.content("out/a.jpg") == made)
        }
        #expect(try await pipectl.shell("pipectl batch in -s 8 -o out --resume").text.contains("1 skipped"))
    }

    @Test("a run without --resume forgets nothing")
    func remembers() async throws {
        let result = try await pipectl.shell(
            "pipectl batch in -s 8 -o out; pipectl batch in -s 8 -o out; pipectl batch in -s 8 -o out --resume")
        #expect(result.lines.last?.contains("0 done, 1 skipped") == true, "\(result.text)")
    }

    @Test("a batch runs where its state can't be written, with a warning, unless it is to be resumed")
    func withoutState() async throws {
        let nowhere = ["XDG_STATE_HOME": "/proc/nowhere"]
        let result = try await pipectl.shell("pipectl batch in -s 8 -o out", environment: nowhere)
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.errors.hasPrefix("pipectl: warning: "))
        #expect(pipectl.exists("out/a.jpg"))
        #expect(try await pipectl.shell("pipectl batch in -s 8 -o x --resume", environment: nowhere).status == 1)
        #expect(try await pipectl.shell("pipectl batch in -s 8 -o x --journal /proc/nowhere/j").status == 1)
    }

    @Test("a device is not a journal")
    func device() async throws {
        for device in ["/dev/full", "/dev/zero"] {
            let result = try await pipectl.shell("pipectl batch in -s 8 -o out --journal \(device)")
            #expect(result.status == 1)
            #expect(result.errors.contains("it is not a regular file"))
        }
    }

    @Test(
        "a journal that can't be written is said once, and the batch continues",
        .withMounts)
    func fullJournal() async throws {
        try pipectl.add("good/jpeg-greyscale.jpg", as: "in/b.jpg")
        // A file system of one page, which the journal has filled.
        let result = try await pipectl.shell(
            """
            unshare --user --map-root-user --mount sh -c 'mkdir small; mount -t tmpfs -o size=4k none small; { echo "# pipectl journal 1"; head -c 4075 /dev/zero | tr "\\0" x; } >small/j
            echo >>small/j; pipectl batch in -s 8 -o out --journal small/j'
            """)
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.text.contains("2 done"))
        #expect(result.errors.components(separatedBy: "The journal can't be written").count == 2, "\(result.errors)")
    }

    @Test("journals that no batch has used for a month go")
    func pruned() async throws {
        let result = try await pipectl.shell(
            """
            pipectl batch in -s 8 -o one; pipectl batch in -s 8 -o two
            touch -d '40 days ago' state/pipectl/*.journal; echo mine >state/pipectl/mine.journal
            touch -d '40 days ago' state/pipectl/mine.journal
            pipectl batch in -s 8 -o three >/dev/null; ls state/pipectl | wc -l
            """)
        #expect(result.lines.last == "2", "\(result.text)")
    }
}
