import Foundation
import TestFixtures
import Testing

@Suite("File names that are not UTF-8", .onLinux)
struct NamesTests {
    private let pipectl: Pipectl

    init() throws { pipectl = try Pipectl() }

    @Test(
        "work in every verb, as arguments and as outputs",
        arguments: [
            ("thumb \"$n\" -s 8", "caf\\351-8x6.jpg"), ("thumb \"$n\" -s 8 -o \"o/$n\"", "o/caf\\351.jpg"),
            ("thumb ok.jpg -s 8 -o \"$d/{name}.png\"", "d\\377/ok.png"),
            ("convert \"$n\" \"$d/a.png\"", "d\\377/a.png"),
            ("run \"$n\" --ops circle -o '{name}.png'", "caf\\351.png"), ("srcset \"$n\" -w 8", "caf\\351-8.jpg"),
            ("batch in -s 8 -o \"$d\"", "d\\377/caf\\351.jpg"), ("batch 'in/*.jpg' -s 8 -o o", "o/caf\\351.jpg"),
            ("batch --files0-from list -s 8 -o o", "o/in/caf\\351.jpg"),
            ("batch - -s 8 -o o <lines", "o/in/caf\\351.jpg"),
            ("load \"$n\" -o \"$d/{name}.png\"", "d\\377/caf\\351.png"),
            ("thumb ok.jpg --ops \"composite=$n\" -o \"$d/b.png\"", "d\\377/b.png"),
            ("thumb \"file://$PWD/caf%E9.jpg\" -s 8 -o o/c.jpg", "o/c.jpg"),
            ("batch in -s 8 -o \"$d\" --resume --journal \"$d.journal\"", "d\\377.journal"),
        ])
    func verbs(arguments: String, made: String) async throws {
        try pipectl.add("good/jpeg-greyscale.jpg", as: "ok.jpg")
        let result = try await pipectl.shell(
            """
            n=$(printf 'caf\\351.jpg'); d=$(printf 'd\\377'); mkdir in; cp ok.jpg "$n"; cp ok.jpg "in/$n"; cp ok.jpg in/
            printf 'in/caf\\351.jpg\\0' >list; printf 'in/caf\\351.jpg\\n' >lines
            pipectl \(arguments) || exit
            test -s "$(printf '\(made)')"
            """)
        #expect(result.status == 0, "\(result.errors)")
    }

    @Test("are shown with their bytes in percent, also in JSON, and none is left out")
    func shown() async throws {
        try pipectl.add("good/jpeg-greyscale.jpg", as: "ok.jpg")
        let result = try await pipectl.shell(
            "mkdir in; cp ok.jpg in/$(printf 'caf\\351.jpg'); pipectl info in/* --json; pipectl batch in -s 8 -o o --json"
        )
        let objects = try result.objects()
        #expect(objects.count == 3, "\(result.text) \(result.errors)")
        #expect(objects[0]["input"] as? String == "in/caf%E9.jpg")
        #expect(objects[1]["output"] as? String == "o/caf%E9.jpg")
        #expect((objects[2]["summary"] as? [String: Any])?["done"] as? Int == 1)
    }

    @Test("a name that turns the direction of writing is shown in percent, and whole in JSON without turning anything")
    func turning() async throws {
        try pipectl.add("good/jpeg-greyscale.jpg", as: "a\u{202E}gpj.jpg")
        let text = try await pipectl.shell(
            "pipectl info *.jpg; pipectl thumb *.jpg -s 8 -o b.jpg; pipectl info 'x\u{2028}y' 2>&1")
        #expect(text.text.contains("a%E2%80%AEgpj.jpg"))
        #expect(!text.text.contains("\u{202E}") && !text.text.contains("\u{2028}"), "\(text.text)")
        let json = try await pipectl.shell("pipectl info *.jpg --json")
        #expect(!json.text.contains("\u{202E}"), "\(json.text)")
        #expect(try json.objects().first?["input"] as? String == "a\u{202E}gpj.jpg")
    }

    @Test("names that are equal as texts, but not as bytes, are two files")
    func normalization() async throws {
        try pipectl.add("good/jpeg-greyscale.jpg", as: "ok.jpg")
        let result = try await pipectl.shell(
            """
            mkdir in; cp ok.jpg in/$(printf '\\303\\251.jpg'); cp ok.jpg in/$(printf 'e\\314\\201.jpg')
            cp ok.jpg in/$(printf '\\314\\201.jpg')
            pipectl batch in -s 8 -o o; ls o | wc -l; pipectl batch in -s 8 -o o --resume
            """)
        #expect(result.text.contains("3 done"), "\(result.errors)")
        #expect(result.text.contains("0 done, 3 skipped"), "\(result.text)")
    }
}
