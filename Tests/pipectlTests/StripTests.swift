import Foundation
import Testing

@Suite("pipectl strip")
struct StripTests {
    private let pipectl: Pipectl

    init() throws {
        pipectl = try Pipectl()
        try pipectl.add("good/jpeg-exif-xmp-icc.jpg", as: "photo.jpg")
    }

    @Test("writes the picture without metadata, and no pixel differs")
    func strip() async throws {
        let result = try await pipectl.shell(
            "pipectl strip photo.jpg -o clean.jpg && pipectl compare photo.jpg clean.jpg")
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.text.contains("photo.jpg → clean.jpg: ") && result.text.contains("no pixel differs"))
        let object = try #require(try await pipectl.shell("pipectl info clean.jpg --json").objects().first)
        #expect(object["exifBytes"] as? Int == 0 && object["xmpBytes"] as? Int == 0)
        #expect(object["profile"] as? String != nil)
        let piped = try await pipectl.shell("pipectl strip - -o - < photo.jpg | cmp - clean.jpg && echo same")
        #expect(piped.text == "same\n", "\(piped.errors)")
    }

    @Test("--gps and --metadata no-gps remove the GPS position, which info shows, and keep the rest")
    func location() async throws {
        func number(_ value: Int, _ count: Int) -> [UInt8] {
            (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        }
        func entry(_ tag: Int, _ type: Int, _ count: Int, _ value: [UInt8]) -> [UInt8] {
            number(tag, 2) + number(type, 2) + number(count, 4) + value
        }
        // 52° 30' north, 13° 24' east, after the camera's maker.
        var exif = Array("Exif\0\0II*\0".utf8) + number(8, 4) + number(2, 2)
        exif += entry(0x10f, 2, 4, Array("Ann\0".utf8)) + entry(0x8825, 4, 1, number(38, 4)) + number(0, 4)
        exif += number(4, 2) + entry(1, 2, 2, Array("N\0\0\0".utf8)) + entry(2, 5, 3, number(92, 4))
        exif += entry(3, 2, 2, Array("E\0\0\0".utf8)) + entry(4, 5, 3, number(116, 4)) + number(0, 4)
        for value in [52, 30, 0, 13, 24, 0] { exif += number(value, 4) + number(1, 4) }
        let photo = try pipectl.content("photo.jpg")
        let length = exif.count + 2
        let segment = [0xff, 0xe1, UInt8(length >> 8), UInt8(length & 255)] + exif
        try Data(photo[..<2] + segment + photo[2...]).write(to: URL(filePath: pipectl.path("in.jpg")))
        let info = try await pipectl.shell("pipectl info in.jpg -F '{camera} {gps}'").text
        #expect(info.hasPrefix("Ann 52.5"), "\(info)")
        for line in ["strip in.jpg --gps -o out.jpg", "convert in.jpg out.jpg --metadata no-gps -y"] {
            let result = try await pipectl.shell("pipectl \(line) -q && pipectl info out.jpg -F '{camera} {gps}'")
            #expect(result.text.trimmingCharacters(in: .whitespacesAndNewlines) == "Ann", "\(result.errors)")
        }
    }

    @Test("writes over its source where told, and over nothing else")
    func places() async throws {
        let result = try await pipectl.shell("pipectl strip photo.jpg --in-place; pipectl strip photo.jpg -o photo.jpg")
        #expect(result.status == 1)
        #expect(result.errors.contains("-y"))
        let object = try #require(try await pipectl.shell("pipectl info photo.jpg --json").objects().first)
        #expect(object["exifBytes"] as? Int == 0)
    }

    @Test(
        "says what is wrong",
        arguments: [
            ("photo.jpg", 2, "-o"), ("in.gif -o out.gif", 1, "only JPEG, PNG and WebP"),
            ("photo.jpg -o out.png", 1, "is named as png"), ("none.jpg -o a.jpg", 1, "none.jpg"),
            ("http://localhost:1/a.jpg -o a.jpg", 1, "strip takes files"),
            ("photo.jpg -o a.jpg --keep provenence", 2, "provenance"), ("- - -o '{index}.jpg'", 2, "once"),
        ])
    func refusals(arguments: String, status: Int, expected: String) async throws {
        try pipectl.add("good/gif-animated.gif", as: "in.gif")
        let result = try await pipectl.shell("pipectl strip \(arguments)")
        #expect(result.status == Int32(status))
        #expect(result.errors.contains(expected), "\(result.errors)")
    }

    /// Adds a manifest of provenance, whose signature is none, to a JPEG.
    private func sign(_ name: String, as signed: String) throws {
        func box(_ type: String, _ content: [UInt8]) -> [UInt8] {
            let length = content.count + 8
            return [0, 0, UInt8(length >> 8), UInt8(length & 255)] + type.utf8 + content
        }
        func superbox(_ label: String, _ content: [UInt8]) -> [UInt8] {
            let type = Array("c2pa".utf8) + [0, 0x11, 0, 0x10, 0x80, 0, 0, 0xaa, 0, 0x38, 0x9b, 0x71]
            return box("jumb", box("jumd", type + [3] + Array(label.utf8) + [0]) + content)
        }
        let store = Array("JP".utf8) + [0, 1, 0, 0, 0, 1] + superbox("c2pa", superbox("urn:c2pa:1", []))
        let file = try pipectl.content(name)
        let length = store.count + 2
        let segment = [0xff, 0xeb, UInt8(length >> 8), UInt8(length & 255)] + store
        try Data(file[..<2] + segment + file[2...]).write(to: URL(filePath: pipectl.path(signed)))
    }

    @Test("removes manifests of provenance, or keeps them, and says when they aren't valid any more")
    func provenance() async throws {
        _ = try await pipectl.shell("pipectl strip photo.jpg -o clean.jpg")
        try sign("photo.jpg", as: "signed.jpg")
        try sign("clean.jpg", as: "signed-clean.jpg")
        let cases =
            [
                ("strip signed.jpg -o out.jpg", "removed", nil), ("strip photo.jpg -o out.jpg", nil, nil),
                ("strip signed.jpg --gps -o out.jpg", "removed", "may contain the position"),
                ("strip signed.jpg --keep provenance -o out.jpg", "broken", "isn't valid any more"),
                ("strip signed-clean.jpg --keep provenance -o out.jpg", "kept", nil),
                ("strip photo.jpg --keep provenance -o out.jpg", nil, nil),
                ("convert signed.jpg out.jpg", "removed", "isn't kept"),
                ("thumb signed.jpg -s 20 -o out.jpg", "removed", "isn't kept"),
                ("batch signed.jpg -f png -o 'all/{name}.{ext}'", "removed", "isn't kept"),
                ("srcset signed.jpg -w 10,20 -o '{name}-{w}.jpg'", "removed", "isn't kept"),
                ("convert photo.jpg out.jpg", nil, nil),
            ] as [(String, String?, String?)]
        for (line, outcome, warning) in cases {
            let result = try await pipectl.shell("pipectl \(line) --json -y")
            #expect(result.status == 0, "\(line): \(result.errors)")
            let object = try #require(try result.objects().first)
            #expect(object["provenance"] as? String == outcome, "\(line)")
            #expect(
                result.errors.components(separatedBy: "(C2PA)").count == (warning == nil ? 1 : 2), "\(result.errors)")
            #expect(warning.map { result.errors.contains($0) } ?? true, "\(line): \(result.errors)")
        }
        let same = try await pipectl.shell(
            "pipectl strip - --keep provenance -o - < signed-clean.jpg | cmp - signed-clean.jpg")
        #expect(same.status == 0, "\(same.errors)")
        let place = try await pipectl.shell(
            "pipectl strip signed-clean.jpg --keep provenance --in-place && pipectl info signed-clean.jpg")
        #expect(place.text.contains("C2PA manifest urn:c2pa:1"), "\(place.text)\(place.errors)")
    }

    @Test("counts equal warnings of many files after the first ones")
    func foldedWarnings() async throws {
        try FileManager.default.createDirectory(atPath: pipectl.path("album"), withIntermediateDirectories: true)
        for index in 1...23 { try sign("photo.jpg", as: "album/\(index).jpg") }
        let result = try await pipectl.shell("pipectl strip album/*.jpg --gps -o 'out/{name}.jpg'")
        #expect(result.errors.components(separatedBy: "--keep provenance keeps it").count == 22, "\(result.errors)")
        #expect(result.errors.contains("… and 3 more: The manifest of provenance"), "\(result.errors)")
    }
}
