import Foundation
import HTTPTypes
import PipelineTesting
import TestFixtures
import Testing

@Suite("pipectl thumb, convert and run")
struct WorkTests {
    private let pipectl: Pipectl

    init() throws {
        pipectl = try Pipectl()
        try pipectl.add("good/jpeg-progressive-444.jpg", as: "photo.jpg")
    }

    @Test("thumb lays the result next to its source and names it by its size")
    func thumb() async throws {
        let result = try await pipectl.shell("mkdir d; cp photo.jpg d/; pipectl thumb d/photo.jpg -s 100x100")
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.text.hasPrefix("d/photo.jpg → d/photo-100x74.jpg: 100×74 of 640×472, "))
        #expect(try pipectl.content("d/photo-100x74.jpg").starts(with: [0xff, 0xd8, 0xff]))
    }

    @Test(
        "a result has the size that the geometry says, shrunk on load or not",
        arguments: [
            ("-s 100x100", 100, 74), ("-s 50", 50, 37), ("-s x50", 68, 50), ("-s '100x100^'", 136, 100),
            ("-s '100x20!'", 100, 20), ("-s '1000x1000>'", 640, 472), ("-s '1000x1000'", 1000, 738),
            ("-s '10x10<'", 640, 472), ("-s 80x80 --crop north", 80, 80), ("-s 80x60 --crop attention", 80, 60),
            ("", 300, 221), ("-s 90 --crop 16:9", 90, 51), ("-s 90 --crop 50%x50%", 90, 66),
            ("-s 100x100 --crop 1:1:north", 100, 100),
            ("-s '1000>' --crop 50%x50%", 320, 236), ("-s '400>' --crop 64x40+10+20", 64, 40),
            ("-s '400>' --crop 50%x10%+600+0", 40, 47), ("-s 50%", 320, 236), ("-s100", 100, 74),
            ("-s '50%x25%!'", 320, 118), ("-s 25% --crop 64x40+10+20", 16, 10),
        ])
    func sizes(options: String, width: Int, height: Int) async throws {
        let result = try await pipectl.shell("pipectl thumb photo.jpg \(options) -o a.png --json")
        let object = try #require(try result.objects().first, "\(result.errors)")
        #expect(object["width"] as? Int == width)
        #expect(object["height"] as? Int == height)
        #expect(object["nativeWidth"] as? Int == 640)
        #expect(object["status"] as? String == "done")
    }

    @Test("a picture that is cut off is an error, or with --allow-truncated what can be read of it")
    func truncated() async throws {
        try pipectl.add("bad/jpeg-truncated-50pct.jpg", as: "half.jpg")
        let refused = try await pipectl.shell("pipectl thumb half.jpg -s 50 -o a.png")
        #expect(refused.status == 1)
        #expect(refused.errors.contains("half.jpg"))
        let taken = try await pipectl.shell("pipectl thumb half.jpg -s 50 -o a.png --allow-truncated")
        #expect(taken.status == 0, "\(taken.errors)")
        #expect(try pipectl.content("a.png").starts(with: [0x89, 0x50]))
    }

    @Test("prints one object a result with every field, null where there is nothing")
    func json() async throws {
        let result = try await pipectl.shell("pipectl thumb photo.jpg none.jpg -o '{name}.png' --json")
        #expect(result.status == 1)
        #expect(result.errors.isEmpty)
        let objects = try result.objects()
        #expect(objects.count == 2)
        for object in objects {
            #expect(
                Set(object.keys) == [
                    "input", "output", "status", "reason", "source", "width", "height", "nativeWidth", "nativeHeight",
                    "bytesIn", "bytes", "provenance", "ms", "error",
                ])
        }
        #expect(objects.contains { ($0["error"] as? [String: Any])?["code"] as? String == "fileNotFound" })
    }

    @Test("reads standard input and writes standard output where it says -")
    func streams() async throws {
        let result = try await pipectl.shell(
            "pipectl thumb - -s 20 < photo.jpg | pipectl convert - - -f webp | head -c 4")
        #expect(result.text == "RIFF")
        let image = try await pipectl.shell(
            "cat photo.jpg | pipectl run - --ops grayscale,pad=9:9:color=#fff:gravity=center -o grey.png")
        #expect(image.status == 0, "\(image.errors)")
        #expect(try pipectl.content("grey.png").starts(with: [0x89, 0x50]))
    }

    @Test("takes URLs wherever a file can stand, and caches what it downloads")
    func urls() async throws {
        let photo = try Pictures.bytes("good/webp-lossy.webp")
        let origin = try ScriptedOrigin { _ in .init(headers: [.cacheControl: "max-age=600"], body: photo) }
        let url = origin.url("/a b/photo.webp?token=hunter2").absoluteString
        for name in ["a.png", "b.png"] {
            let result = try await pipectl.run("convert", url, name, "-v")
            #expect(result.status == 0, "\(result.errors)")
            #expect(!(result.text + result.errors).contains("hunter2"))
        }
        #expect(origin.log.requests.count == 1)
        #expect(try pipectl.content("a.png") == pipectl.content("b.png"))
        let batch = try await pipectl.shell("echo '\(url)' | pipectl batch - -s 10 -o out")
        #expect(batch.status == 0, "\(batch.errors)")
        #expect(pipectl.exists("out/photo.webp"))
        #expect(origin.log.requests.count == 1)
    }

    @Test("never overwrites unless told")
    func overwriting() async throws {
        let before = try Pictures.bytes("good/webp-lossy.webp")
        func reset() throws { try Data(before).write(to: URL(filePath: pipectl.path("out.png"))) }
        try reset()
        let refused = try await pipectl.shell("pipectl convert photo.jpg out.png")
        #expect(refused.status == 1)
        #expect(refused.errors.contains("out.png") && refused.errors.contains("-y"))
        #expect(try pipectl.content("out.png") == before)
        let left = try await pipectl.shell("pipectl convert photo.jpg out.png -n")
        #expect(left.status == 0)
        #expect(try pipectl.content("out.png") == before)
        let newer = try await pipectl.shell("touch -d 2001-01-01 photo.jpg; pipectl convert photo.jpg out.png --newer")
        #expect(newer.status == 0)
        #expect(try pipectl.content("out.png") == before)
        _ = try await pipectl.shell(
            "touch -d 2001-01-01 out.png; touch photo.jpg; pipectl convert photo.jpg out.png --newer")
        #expect(try pipectl.content("out.png").starts(with: [0x89]))
        try reset()
        #expect(try await pipectl.shell("pipectl convert photo.jpg out.png -y").status == 0)
        #expect(try pipectl.content("out.png").starts(with: [0x89]))
        let both = try await pipectl.shell("pipectl convert photo.jpg out.png -y -n")
        #expect(both.status == 2)
    }

    @Test("--in-place writes over the source, keeps its mode, and goes through a link to what it names")
    func inPlace() async throws {
        let result = try await pipectl.shell(
            """
            chmod 640 photo.jpg; ln -s photo.jpg link.jpg
            pipectl run link.jpg --ops resize=64 --in-place && stat -c '%a %F' photo.jpg link.jpg
            """)
        #expect(result.lines.suffix(2) == ["640 regular file", "777 symbolic link"], "\(result.errors)")
        let info = try await pipectl.shell("pipectl thumb photo.jpg -s 8 -o a.png --json")
        #expect(try info.objects().first?["nativeWidth"] as? Int == 64)
        let wrong = try await pipectl.shell("pipectl run photo.jpg --ops flip=vertical --in-place -f webp")
        #expect(wrong.status == 1)
        #expect(try await pipectl.shell("pipectl run - --ops circle --in-place < photo.jpg").status == 1)
    }

    @Test("fills each field of a pattern")
    func patterns() async throws {
        let result = try await pipectl.shell(
            """
            mkdir d out; cp photo.jpg d/x.y.jpg
            pipectl thumb photo.jpg d/x.y.jpg -s 50 -f webp -o 'out/{index}-{name}-{w}x{h}-{format}.{ext}'
            cd d && pipectl thumb ../photo.jpg -s 10 -o '{dir}/out/up.png'; ls ../out
            """)
        #expect(
            result.lines.suffix(3) == ["1-photo-50x37-webp.webp", "2-x.y-50x37-webp.webp", "up.png"], "\(result.errors)"
        )
    }

    @Test("takes names with spaces, quotes, newlines and leading dashes")
    func oddNames() async throws {
        for name in [
            "a b.jpg", "it's \"q\".jpg", "two\nlines.jpg", "-dash.jpg", "ünï.jpg", "{curly.jpg", "per%cent.jpg",
        ] {
            try pipectl.add("good/jpeg-greyscale.jpg", as: name)
            let result = try await pipectl.run("thumb", "-s", "8", "-o", "out-{name}.png", "--", name)
            #expect(result.status == 0, "\(result.errors)")
            #expect(pipectl.exists("out-\(name.dropLast(4)).png"))
            #expect(!result.text.dropLast().contains("\n"))
        }
    }

    @Test(
        "says what is wrong with status 1, and leaves nothing behind",
        arguments: [
            ("thumb none.jpg", "no such file"), ("thumb .", "directory"), ("thumb bad.jpg", "bad.jpg"),
            ("convert photo.jpg /proc/missing/a.png", "/proc/missing"), ("convert photo.jpg a.xyz", "extension"),
            ("convert bad.jpg a.png", "bad.jpg"), ("convert ftp://x/a.jpg a.png", "ftp"),
            ("convert photo.jpg a.heic", "extension"), ("convert photo.jpg /proc/a.png", "/proc/a.png"),
            ("convert photo.jpg photo.jpg/a.png", "not a folder"),
            ("run photo.jpg --ops circle -o '{name}.png' && mkdir photo.png", "folder of this name"),
            ("thumb photo.jpg --max-pixels 100", "photo.jpg"), ("thumb photo.jpg --max-pixels 0.1M", "photo.jpg"),
            ("thumb photo.jpg --max-source-bytes 1K", "--max-source-bytes"),
            ("thumb photo.jpg -s 900000x900000!", "photo.jpg"),
        ])
    func failures(arguments: String, expected: String) async throws {
        try pipectl.add("bad/jpeg-truncated-50pct.jpg", as: "bad.jpg")
        let parts = arguments.components(separatedBy: " && ")
        let result = try await pipectl.shell("\(parts.count > 1 ? parts[1] + "; " : "")pipectl \(parts[0])")
        #expect(result.status == 1)
        #expect(result.errors.hasPrefix("pipectl: "))
        #expect(result.errors.contains(expected), "\(result.errors)")
        let left = try FileManager.default.contentsOfDirectory(atPath: pipectl.folder.path)
        #expect(Set(left).isSubset(of: ["photo.jpg", "bad.jpg", "photo.png", "cache", "state"]))
    }

    @Test("a folder takes the result, under the source's name")
    func folders() async throws {
        let result = try await pipectl.shell(
            "mkdir folder; pipectl convert photo.jpg folder -f png && pipectl thumb photo.jpg -s 9 -o folder")
        #expect(result.status == 0, "\(result.errors)")
        #expect(try pipectl.tree("folder").keys.sorted() == ["photo.jpg", "photo.png"])
    }

    @Test(
        "refuses what makes no sense with status 2, saying what would",
        arguments: [
            ("thumb", "in"), ("thumb photo.jpg -s 0x0", "-s"), ("thumb photo.jpg --siz 10", "--size"),
            ("thumb photo.jpg --crop north -s 10", "two sides"), ("thumb photo.jpg --crop north -s 9%x9%", "pixels"),
            ("thumb a.jpg b.jpg -o c.png", "{name}"),
            ("thumb a.jpg b.jpg -o -", "Standard output"), ("thumb photo.jpg -o - --json", "--json"),
            ("thumb photo.jpg -o '{nam}.png'", "{name}"), ("thumb x/a.jpg y/a.jpg -o '{name}.png'", "both"),
            ("thumb - - -o '{index}.png'", "once"), ("thumb photo.jpg -Q 0", "-Q"),
            ("thumb photo.jpg -f xyz", "xyz"),
            ("run photo.jpg -o a.png", "--ops"), ("run photo.jpg --ops resise=10 -o a.png", "Did you mean resize?"),
            (
                "run photo.jpg --ops 'blur=2,resize=10:hight=5' -o a.png",
                "column 18: resize has no parameter hight. Did you mean height?"
            ),
            ("run photo.jpg --ops blur=x -o a.png", "sigma takes a number from 0 to 100"),
            ("run photo.jpg --ops blur -o a.png", "needs sigma"), ("run photo.jpg --ops circle", "-o"),
            ("run photo.jpg --ops ,, -o a.png", "missing"), ("convert photo.jpg", "out"),
            ("thumb photo.jpg -q -v", "exclude"), ("thumb photo.jpg --memory lots", "memory"),
            ("thumb photo.jpg --in-place -o a.png", "exclude"), ("thumb photo.jpg --crop 16:0", "--crop"),
            ("thumb photo.jpg --crop 10x", "--crop"), ("thumb photo.jpg --crop 1x1+1", "--crop"),
            ("run photo.jpg -o a.png --ops crop=10", "crop needs width and height, or aspect"),
            ("run photo.jpg -o a.png --ops crop=10:10:aspect=1/1", "not both"),
            ("run photo.jpg -o a.png --ops crop=10%:10:by=entropy", "in pixels"),
            ("run photo.jpg -o a.png --ops crop=0%:10", "percentage such as 50%"),
        ])
    func usage(arguments: String, expected: String) async throws {
        let result = try await pipectl.shell("pipectl \(arguments)")
        #expect(result.status == 2, "\(result.errors)")
        #expect(result.errors.contains(expected), "\(result.errors)")
        #expect(result.text.isEmpty)
    }

    @Test("--dry-run says what would be written, and writes nothing")
    func dryRun() async throws {
        let result = try await pipectl.shell("touch b.png; pipectl thumb photo.jpg -o b.png --dry-run")
        #expect(result.status == 0)
        #expect(result.text == "photo.jpg → b.png (exists: an error without -y, -n or --newer)\n")
        #expect(try pipectl.content("b.png").isEmpty)
    }

    @Test("--quiet says nothing, --color colours errors, and NO_COLOR does not undo --color always")
    func voices() async throws {
        #expect(try await pipectl.shell("pipectl thumb photo.jpg -s 9 -o a.png -q").text.isEmpty)
        let plain = try await pipectl.shell("pipectl thumb none.jpg -q")
        #expect(plain.errors.hasPrefix("pipectl: "))
        let red = try await pipectl.shell("NO_COLOR=1 pipectl thumb none.jpg --color always")
        #expect(red.errors.hasPrefix("\u{1B}[1;31mpipectl:\u{1B}[0m "))
    }

    @Test("writes into devices and pipes instead of replacing them")
    func devices() async throws {
        let result = try await pipectl.shell(
            "ln -s /dev/null null.png; pipectl convert photo.jpg null.png && test -c /dev/null && test -L null.png && echo kept"
        )
        #expect(result.text.hasSuffix("kept\n"), "\(result.errors)")
    }

    @Test("ends silently where its reader has gone away")
    func closedPipe() async throws {
        let result = try await pipectl.shell("pipectl convert photo.jpg - -f png | head -c 1 > /dev/null; echo ended")
        #expect(result.text == "ended\n")
        #expect(result.errors.isEmpty)
    }
}
