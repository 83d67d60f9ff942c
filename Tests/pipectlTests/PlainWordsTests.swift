import Foundation
import TestFixtures
import Testing

@Suite("pipectl says what is wrong in plain words")
struct PlainWordsTests {
    private let pipectl: Pipectl

    init() throws {
        pipectl = try Pipectl()
        try pipectl.add("good/jpeg-greyscale.jpg", as: "a.jpg")
    }

    @Test("--json has the bytes of a name that isn't UTF-8, and of no other", .onLinux)
    func bytesOfNames() async throws {
        let result = try await pipectl.shell(
            "n=$(printf 'caf\\351.jpg'); cp a.jpg \"$n\"; pipectl thumb \"$n\" a.jpg -s 8 -o 'o/{name}.png' --json")
        let objects = try result.objects()
        let bytes = objects.compactMap { ($0["inputBytes"] as? String).flatMap { Data(base64Encoded: $0) } }
        #expect(bytes == [Data("caf".utf8) + [0xE9] + Data(".jpg".utf8)], "\(result.text)")
        #expect(objects.compactMap { $0["outputBytes"] }.count == 1)
    }

    @Test(
        "A folder where nothing can be written is named, and not the file",
        .withMounts)
    func obstacle() async throws {
        let result = try await pipectl.shell(
            """
            mkdir ro; unshare --user --map-root-user --mount sh -c 'mount -t tmpfs -o size=1m none ro; cp a.jpg ro
            mount -o remount,ro none ro; pipectl thumb ro/a.jpg -s 20'
            """)
        #expect(result.errors.hasPrefix("pipectl: ro: Nothing can be written here:"), "\(result.errors)")
    }

    @Test("A format that the name doesn't allow is refused with what to do")
    func names() async throws {
        let result = try await pipectl.shell("pipectl thumb a.jpg -s 8 -f png --in-place")
        #expect(result.status != 0 && result.errors.contains("--in-place can't write png"), "\(result.errors)")
        #expect(result.errors.contains("Use -o."), "\(result.errors)")
    }

    @Test("A montage counts the images that it holds")
    func montage() async throws {
        let result = try await pipectl.shell("pipectl montage a.jpg none.jpg -o m.jpg")
        #expect(result.status == 1 && result.text.hasPrefix("1 of 2 images → m.jpg"), "\(result.text)")
    }

    @Test("A batch says that its images are files, and which line is the summary")
    func batchObjects() async throws {
        let objects = try await pipectl.shell("pipectl batch a.jpg -s 8 -o out --json").objects()
        #expect(objects.first?["source"] as? String == "file")
        #expect(objects.last?["kind"] as? String == "summary" && objects.last?["summary"] != nil)
    }

    @Test("A file that looks like an option is explained")
    func dash() async throws {
        let result = try await pipectl.shell("cp a.jpg ./-x.jpg; pipectl info -x.jpg")
        #expect(result.status == 2 && result.errors.contains("for the file write ./-x.jpg"), "\(result.errors)")
        #expect(try await pipectl.shell("pipectl info ./-x.jpg && pipectl info -- -x.jpg").status == 0)
    }

    @Test("A variable that isn't a setting is named, with the nearest one")
    func variables() async throws {
        let mistake = ["PIPECTL_QUALTY": "3"]
        let result = try await pipectl.shell("pipectl thumb a.jpg -s 8", environment: mistake)
        #expect(result.status == 0 && result.errors.contains("Did you mean PIPECTL_QUALITY?"), "\(result.errors)")
        #expect(try await pipectl.shell("pipectl thumb a.jpg -s 9 -q", environment: mistake).errors.isEmpty)
    }

    @Test("Memory that holds no image is refused")
    func memory() async throws {
        let result = try await pipectl.shell("pipectl thumb a.jpg -s 8 --memory 1K")
        #expect(result.status == 2 && result.errors.contains("less than one image needs"), "\(result.errors)")
    }

    @Test("The doctor names each thing once, and all libraries")
    func doctor() async throws {
        let result = try await pipectl.shell("pipectl doctor")
        for library in ["OpenSSL", "hiredis", "librsvg", "libde265", "libjxl"] {
            #expect(result.text.contains(library), "\(library)")
        }
        #expect(!result.text.contains("settings settings") && !result.text.contains("pipectl pipectl"))
        #expect(result.lines.contains { $0.contains("frames") && $0.contains("10000") }, "\(result.text)")
    }
}
