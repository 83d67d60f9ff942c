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
            ("photo.jpg -o out.png", 1, "promises png"), ("none.jpg -o a.jpg", 1, "none.jpg"),
            ("http://localhost:1/a.jpg -o a.jpg", 1, "strip takes files"), ("- - -o '{index}.jpg'", 2, "once"),
        ])
    func refusals(arguments: String, status: Int, expected: String) async throws {
        try pipectl.add("good/gif-animated.gif", as: "in.gif")
        let result = try await pipectl.shell("pipectl strip \(arguments)")
        #expect(result.status == Int32(status))
        #expect(result.errors.contains(expected), "\(result.errors)")
    }
}
