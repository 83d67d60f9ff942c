import CAttributes
import Foundation
import Testing

@Suite("pipectl and the files of its user")
struct UserFilesTests {
    private let pipectl: Pipectl

    init() throws {
        pipectl = try Pipectl()
        try pipectl.add("good/jpeg-greyscale.jpg", as: "in/a.jpg")
    }

    @Test("A file that is not a journal is not written to", arguments: ["notes.txt", "in/a.jpg"])
    func noJournal(name: String) async throws {
        _ = try await pipectl.shell("echo precious >notes.txt")
        let before = try pipectl.content(name)
        for option in ["", "--resume"] {
            let result = try await pipectl.shell("pipectl batch in -s 8 -o out --journal \(name) \(option)")
            #expect(result.status == 1)
            #expect(result.errors.contains("it is not a journal"), "\(result.errors)")
            #expect(try pipectl.content(name) == before)
        }
        #expect(!pipectl.exists("out"))
    }

    @Test("A journal of version 0.1, which has no header, is continued, and one cut within its header begun again")
    func olderJournal() async throws {
        let older = try await pipectl.shell(
            """
            pipectl batch in -s 8 -o out --journal j && head -n 1 j && sed -i 1d j
            pipectl batch in -s 8 -o out --journal j --resume
            """)
        #expect(older.lines.contains("# pipectl journal 1"), "\(older.text)")
        #expect(older.lines.last?.contains("0 done, 1 skipped") == true, "\(older.text) \(older.errors)")
        let cut = try await pipectl.shell(
            "printf '# pipectl jou' >k; pipectl batch in -s 8 -o other --journal k && head -n 1 k")
        #expect(cut.lines.last == "# pipectl journal 1", "\(cut.errors)")
    }

    @Test(
        "A replaced file keeps owner, group, mode and attributes, but no right to run as its owner",
        .enabled(if: geteuid() == 0, "only root can give files away"),
        arguments: [
            "thumb a.jpg -s 20 --in-place", "strip a.jpg --in-place", "convert b.jpg a.jpg -y",
            "batch b.jpg -s 20 -o '{dir}/a.jpg' -y",
        ])
    func owner(arguments: String) async throws {
        _ = try await pipectl.shell("cp in/a.jpg a.jpg; cp in/a.jpg b.jpg; chown 1234:4321 a.jpg; chmod 6750 a.jpg")
        let hasAttributes = setxattr(pipectl.path("a.jpg"), "user.note", "mine", 4, 0) == 0
        let before = try pipectl.content("a.jpg")
        let result = try await pipectl.shell("pipectl \(arguments) && stat -c '%u:%g %a' a.jpg")
        #expect(result.lines.last == "1234:4321 750", "\(result.errors)")
        #expect(try pipectl.content("a.jpg") != before || arguments.hasPrefix("strip"))
        if hasAttributes { #expect(getxattr(pipectl.path("a.jpg"), "user.note", nil, 0) == 4) }
    }

    @Test(
        "A file of another user that is replaced doesn't gain rights for a group",
        .enabled(if: geteuid() == 0, "only root can give files away"))
    func otherGroup() async throws {
        let result = try await pipectl.shell(
            """
            cp in/a.jpg a.jpg; chown 1234:4321 a.jpg; chmod 664 a.jpg; chmod 777 .; export HOME=$PWD
            user="setpriv --reuid=65534 --regid=65534 --clear-groups"
            $user test -x "$(command -v pipectl)" || { echo unreachable; exit; }
            $user pipectl thumb a.jpg -s 20 --in-place
            stat -c '%u:%g %a' a.jpg
            """)
        // The build may lie in a folder of root's own.
        guard result.lines.last != "unreachable" else { return }
        #expect(result.lines.last == "65534:65534 644", "\(result.errors)")
        #expect(result.errors.contains("a.jpg: The file belongs to you now"))
    }

    @Test(
        "A file is replaced only once the new one is on the disk",
        .withProgram("strace"),
        arguments: [
            "thumb a.jpg -s 20 --in-place", "convert in/a.jpg a.jpg -s 20 -y",
            "batch in/a.jpg -s 20 -o '{name}.jpg' -y",
        ], [false, true])
    func synced(arguments: String, asUser: Bool) async throws {
        // Only root can become somebody else; anybody else is a user already.
        let user = asUser && geteuid() == 0 ? "setpriv --reuid=65534 --regid=65534 --clear-groups" : ""
        let result = try await pipectl.shell(
            """
            cp in/a.jpg a.jpg; chmod 777 .; export HOME=$PWD; user="\(user)"
            [ -z "$user" ] || chown 65534:65534 a.jpg
            $user test -x "$(command -v pipectl)" || { echo unreachable; exit; }
            $user strace -f -o calls -e trace=fsync,fdatasync,linkat,rename,renameat,renameat2 pipectl \(arguments)
            """)
        // The build may lie in a folder of root's own.
        guard result.lines.last != "unreachable" else { return }
        try #require(result.status == 0, "\(result.errors)")
        let calls = String(decoding: try pipectl.content("calls"), as: UTF8.self).split(separator: "\n")
        let sync = try #require(calls.firstIndex { $0.contains("fsync(") && $0.hasSuffix("= 0") }, "\(calls)")
        let rename = try #require(calls.firstIndex { $0.contains("rename") && $0.contains("a.jpg") }, "\(calls)")
        #expect(sync < rename)
    }

    @Test("An output with zeros alone, as a power cut leaves it, is made again, and an edited one is named")
    func zeros() async throws {
        _ = try await pipectl.shell("pipectl batch in -s 8 -o out")
        let made = try pipectl.content("out/a.jpg")
        let result = try await pipectl.shell(
            "head -c \(made.count) /dev/zero >out/a.jpg; pipectl batch in -s 8 -o out --resume")
        #expect(result.status == 0, "\(result.errors)")
        #expect(try pipectl.content("out/a.jpg") == made)
        let edited = try await pipectl.shell("echo edited >out/a.jpg; pipectl batch in -s 8 -o out --resume")
        #expect(edited.errors.contains("The file isn't as this batch wrote it"), "\(edited.errors)")
    }

    @Test(
        "A source is never an output of the same run",
        arguments: [
            "thumb x.jpg x-1.jpg -s 30 -o '{name}-1.jpg' -y", "thumb x.jpg x-1.jpg -s 30x30 -o '{name}-1.jpg' --newer",
            "batch x.jpg x-1.jpg -s 30 -o '{name}-1.jpg' -y", "montage x.jpg x-1.jpg -o x-1.jpg -y",
            "thumb x.jpg x-40x30.jpg -s 40x40 -o '{name}-{w}x{h}.jpg' -y",
            "thumb x.jpg x-1.jpg -s 30 -o '{name}-1.jpg' -y --dry-run",
        ])
    func sources(arguments: String) async throws {
        _ = try await pipectl.shell(
            "cp in/a.jpg x.jpg; ln x.jpg x-1.jpg; ln x.jpg x-40x30.jpg; cp --remove-destination in/a.jpg x-1.jpg"
                + "; cp --remove-destination in/a.jpg x-40x30.jpg; touch -d 2001-01-01 x-1.jpg")
        let before = try pipectl.content("x.jpg")
        let result = try await pipectl.shell("pipectl \(arguments)")
        #expect(result.status == (arguments.hasPrefix("montage") ? 2 : 1), "\(result.text)")
        #expect(result.errors.contains("also a source") || result.errors.contains("also one of the images"))
        #expect(try pipectl.content("x-1.jpg") == before && pipectl.content("x-40x30.jpg") == before)
    }

    @Test(
        "A full disk stops a batch at once, and equal messages are counted after twenty",
        .withMounts)
    func fullDisk() async throws {
        let full = try await pipectl.shell(
            """
            mkdir many small; for i in $(seq 60); do ln in/a.jpg many/$i.jpg; done
            unshare --user --map-root-user --mount sh -c 'mount -t tmpfs -o size=16k none small; pipectl batch many -s 200 -o small -j 1'
            """)
        #expect(full.errors.components(separatedBy: "No space left on device").count == 2, "\(full.errors)")
        #expect(full.text.contains(" 1 failed, ") && full.text.contains("remaining"), "\(full.text)")
        let missing = try await pipectl.shell("seq 50 | pipectl batch - -s 20 -o out --on-collision number")
        #expect(
            missing.errors.components(separatedBy: "\n").filter { $0.contains("There is no such file") }.count == 21)
        #expect(missing.errors.contains("… and 30 more: There is no such file."), "\(missing.errors)")
    }
}
