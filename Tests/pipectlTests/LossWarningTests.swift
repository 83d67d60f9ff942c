import Foundation
import TestFixtures
import Testing

@Suite("pipectl says what of HDR, depth and gain maps a result lacks")
struct LossWarningTests {
    private let pipectl: Pipectl

    init() throws {
        pipectl = try Pipectl()
        try pipectl.add("good/jpeg-ultrahdr-gainmap-mpf.jpg", as: "phone.jpg")
        try pipectl.add("good/png-basn6a16.png", as: "deep.png")
        try pipectl.add("good/jpeg-icc-display-p3.jpg", as: "wide.jpg")
    }

    @Test("A dropped gain map is one line on standard error, and -q leaves it out")
    func droppedMap() async throws {
        let said = "pipectl: warning: phone.jpg: The HDR gain map is dropped"
        for (line, reason) in [
            ("thumb phone.jpg -o a.webp", ", since Encode(image/webp, quality: 80) doesn't keep it.\n"),
            ("convert phone.jpg b.jpg --ops adjust=1.2", ", since Adjust("),
            ("load phone.jpg -o c.png", ", since Encode(image/png) doesn't keep it.\n"),
            ("strip phone.jpg -o d.jpg", ".\n"),
        ] {
            let result = try await pipectl.shell("pipectl \(line)")
            #expect(result.errors.contains(said + reason), "\(line): \(result.errors)")
            #expect(try await pipectl.shell("pipectl \(line) -y -q").errors.isEmpty, "\(line)")
        }
    }

    @Test("A gain map stays in JPEG and AVIF, unless it is to be dropped")
    func keptMap() async throws {
        for line in ["thumb phone.jpg -o a.jpg", "convert phone.jpg b.avif --ops crop=50%:50%", "convert b.avif c.jpg"]
        {
            #expect(try await pipectl.shell("pipectl \(line)").errors.isEmpty, "\(line)")
        }
        let found = try await pipectl.shell("pipectl info a.jpg b.avif c.jpg -F '{hdr}'")
        #expect(found.text == "gain map\ngain map\ngain map\n", "\(found.text)\(found.errors)")
        let meant = try await pipectl.shell(
            "pipectl convert phone.jpg d.jpg --gain-map drop; pipectl info d.jpg -F '{hdr}'")
        #expect(meant.errors.isEmpty && meant.text.hasSuffix("none\n"), "\(meant.text)\(meant.errors)")
        let wrong = try await pipectl.shell("pipectl convert phone.jpg e.jpg --gain-map burn")
        #expect(wrong.status == 2 && wrong.errors.contains("'keep', 'apply' or 'drop'"), "\(wrong.errors)")
        // A JPEG holds no HDR but by a map.
        let useless = try await pipectl.shell("pipectl convert phone.jpg f.jpg --gain-map apply")
        #expect(useless.status == 0 && useless.errors.contains("gain map is dropped, since"), "\(useless.errors)")
        let applied = try await pipectl.shell(
            "for name in g.png h.avif; do pipectl convert phone.jpg $name --gain-map apply; done; "
                + "pipectl info g.png h.avif -F '{hdr} {bits}'")
        #expect(applied.errors.isEmpty && applied.text.hasSuffix("PQ 16\nPQ 10\n"), "\(applied.text)\(applied.errors)")
    }

    @Test("Display P3 is kept; where it can't be, that is told, unless it is meant")
    func gamut() async throws {
        let kept = try await pipectl.shell("pipectl convert wide.jpg a.png -s 20 -v; pipectl info a.png -F '{space}'")
        #expect(kept.errors.contains("Display P3 kept") && kept.text.contains("Display P3"), "\(kept.errors)")
        let said = "pipectl: warning: wide.jpg: Display P3 becomes sRGB, since a stage or the format can't keep it."
        for line in [
            "convert wide.jpg b.gif", "convert wide.jpg c.png --ops adjust=1.2", "load wide.jpg -o d.gif",
            "batch wide.jpg -o '{name}-2.gif'",
        ] {
            #expect(try await pipectl.shell("pipectl \(line)").errors.contains(said), "\(line)")
        }
        let meant = try await pipectl.shell(
            "pipectl convert wide.jpg e.png -s 20 --gamut srgb; pipectl info e.png -F '{space}'")
        #expect(meant.errors.isEmpty && meant.text.contains("sRGB"), "\(meant.errors)")
        let set = try await pipectl.shell(
            "pipectl srcset wide.jpg -w 20 -f png -o '{name}-{w}.{ext}'; pipectl info wide-20.png -F '{space}'")
        #expect(set.text.contains("Display P3"), "\(set.text)\(set.errors)")
        let wrong = try await pipectl.shell("pipectl convert wide.jpg f.png --gamut p3")
        #expect(wrong.status == 2 && wrong.errors.contains("srgb"), "\(wrong.errors)")
        #expect(try await pipectl.shell("pipectl montage wide.jpg -o m.png --gamut source").status == 2)
    }

    @Test("Bits are only missed in a format that could hold them")
    func bits() async throws {
        #expect(try await pipectl.shell("pipectl convert deep.png a.jpg").errors.isEmpty)
        let kept = try await pipectl.shell("pipectl convert deep.png b.png -s 20; pipectl info b.png")
        #expect(kept.errors.isEmpty && kept.text.contains("16 bits"), "\(kept.text)\(kept.errors)")
        let lost = try await pipectl.shell("pipectl convert deep.png c.png --ops adjust=1.2")
        #expect(lost.errors == "pipectl: warning: deep.png: 16 bits a channel become 8.\n")
        for (flags, bits) in [("", 10), ("--lossless", 12)] {
            let line = "convert deep.png e\(bits).avif \(flags); pipectl info e\(bits).avif"
            let deep = try await pipectl.shell("pipectl \(line); pipectl convert e\(bits).avif f\(bits).png -s 20")
            #expect(deep.errors.isEmpty && deep.text.contains("\(bits) bits"), "\(deep.text)\(deep.errors)")
            #expect(try await pipectl.shell("pipectl info f\(bits).png").text.contains("16 bits"))
        }
        let meant = try await pipectl.shell("pipectl convert deep.png d.png --depth 8; pipectl info d.png")
        #expect(meant.errors.isEmpty && meant.text.contains("8 bits"), "\(meant.text)\(meant.errors)")
    }

    @Test("A batch folds the warnings after the first ones")
    func folded() async throws {
        _ = try await pipectl.shell("mkdir in; for n in $(seq 25); do cp phone.jpg in/$n.jpg; done")
        let result = try await pipectl.shell("pipectl batch in -o 'out/{name}.webp' -s 20")
        let lines = result.errors.split(separator: "\n")
        #expect(
            lines.filter { $0.contains(".jpg: The HDR gain map is dropped, since ") }.count == 20, "\(result.errors)")
        #expect(
            lines.contains { $0.hasPrefix("pipectl: … and 5 more: The HDR gain map is dropped, since ") },
            "\(result.errors)")
    }

    @Test("A plan that reads the file notes it")
    func plan() async throws {
        let plan = try await pipectl.shell("pipectl srcset phone.jpg -w 20 -f webp,avif --dry-run")
        #expect(plan.text.contains("(The HDR gain map is dropped, since Encode"), "\(plan.text)\(plan.errors)")
        #expect(plan.text.components(separatedBy: "dropped").count == 2, "\(plan.text)")
        // By the stages and options of the list, and not by the formats alone.
        let line = "pipectl run phone.jpg -o '{name}-{w}.jpg' --dry-run"
        let plain = try await pipectl.shell("\(line) -s 20")
        #expect(plain.text.contains("-20.jpg") && !plain.text.contains("dropped"), "\(plain.text)\(plain.errors)")
        #expect(try await pipectl.shell("\(line) --ops adjust=1.2").text.contains("dropped, since Adjust("))
        #expect(!(try await pipectl.shell("\(line) --ops adjust=1.2 --gain-map drop").text.contains("dropped")))
        #expect(try await pipectl.shell("ls").text.contains("-20.") == false)
        let listed = "printf 'pipeline:\\n- readFile\\n- decode: {frames: 1}\\n- encode: {format: webp}\\n' > one.yaml"
        let whole = try await pipectl.shell("\(listed); \(line) --pipeline one.yaml")
        #expect(whole.text.contains("dropped, since Encode(image/webp"), "\(whole.text)\(whole.errors)")
    }

    @Test("srcset keeps in each file what its format holds, and warns once of what it doesn't")
    func set() async throws {
        let set = try await pipectl.shell(
            "pipectl srcset phone.jpg -w 20,40 -f avif,webp,jpg -o '{name}-{w}.{ext}'; "
                + "pipectl info phone-20.avif phone-40.jpg phone-20.webp -F '{hdr}'")
        #expect(set.text.hasSuffix("gain map\ngain map\nnone\n"), "\(set.text)\(set.errors)")
        #expect(set.errors.components(separatedBy: "gain map is dropped, since Encode").count == 2, "\(set.errors)")
        let applied = try await pipectl.shell(
            "pipectl srcset phone.jpg -w 20 -f avif,png --gain-map apply -o 'a-{w}.{ext}'; "
                + "pipectl info a-20.avif a-20.png -F '{hdr} {bits}'")
        #expect(applied.text.hasSuffix("PQ 10\nPQ 16\n") && applied.errors.isEmpty, "\(applied.text)\(applied.errors)")
        let mixed = try await pipectl.shell(
            "pipectl srcset phone.jpg -w 20 -f avif,webp --gain-map apply -o 'b-{w}.{ext}'; pipectl info b-20.avif -F '{hdr}'"
        )
        #expect(mixed.text.hasSuffix("gain map\n") && mixed.errors.contains("dropped"), "\(mixed.text)\(mixed.errors)")
        let deep = try await pipectl.shell(
            "pipectl srcset deep.png -w 20 -f png -o 'd-{w}.png'; pipectl info d-20.png -F '{bits}'; "
                + "pipectl srcset deep.png -w 20 -f png --depth 8 -o 'e-{w}.png'; pipectl info e-20.png -F '{bits}'")
        #expect(deep.text.split(separator: "\n").filter { $0.count < 3 } == ["16", "8"], "\(deep.text)\(deep.errors)")
    }

    @Test("A chosen number of frames doesn't keep other losses from being told")
    func frames() async throws {
        let loaded = try await pipectl.shell("pipectl load phone.jpg -o l.webp --frames 1")
        #expect(loaded.errors.contains("gain map is dropped"), "\(loaded.errors)")
        let list = "printf 'pipeline:\\n- readFile\\n- decode: {frames: 1}\\n- encode: {format: webp}\\n' > one.yaml"
        let run = try await pipectl.shell("\(list); pipectl run phone.jpg --pipeline one.yaml -o r.webp")
        #expect(run.errors.contains("gain map is dropped"), "\(run.errors)")
    }

    @Test("info tells the colour space, the transfer function and the gain map, as text, as fields and as JSON")
    func info() async throws {
        let text = try await pipectl.shell("pipectl info phone.jpg").text
        #expect(text.contains("HDR gain map ("), "\(text)")
        let fields = try await pipectl.shell("pipectl info wide.jpg -F '{space}, {curve}, {hdr}'").text
        #expect(fields.hasPrefix("Display P3, sRGB, none"), "\(fields)")
        let object = try #require(try await pipectl.shell("pipectl info phone.jpg --json").objects().first)
        let map = try #require(object["gainMap"] as? [String: Any])
        #expect(object["hdr"] as? String == "gain map" && map["width"] is Int && map["unreadable"] is NSNull)
        #expect((map["alternateHeadroom"] as? Double ?? 0) > 0, "\(map)")
    }
}
