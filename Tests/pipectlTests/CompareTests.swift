import Foundation
import Testing

@Suite("pipectl compare")
struct CompareTests {
    private let pipectl: Pipectl

    init() throws {
        pipectl = try Pipectl()
        try pipectl.add("good/jpeg-progressive-444.jpg", as: "photo.jpg")
    }

    @Test("says how alike two pictures are, and fails below a threshold")
    func thresholds() async throws {
        _ = try await pipectl.shell("pipectl convert photo.jpg same.png; pipectl convert photo.jpg worse.jpg -Q 30")
        let same = try await pipectl.shell("pipectl compare photo.jpg same.png --min-psnr 99 --min-ssim 1")
        #expect(same.status == 0)
        #expect(same.text == "PSNR infinite (no pixel differs), SSIM 1.0\n")
        let worse = try await pipectl.shell("pipectl compare photo.jpg - --json < worse.jpg")
        #expect(worse.status == 0, "\(worse.errors)")
        let object = try #require(try worse.objects().first)
        #expect(Set(object.keys) == ["a", "b", "width", "height", "equal", "psnr", "ssim", "error"])
        #expect(object["width"] as? Int == 640 && object["equal"] as? Bool == false)
        let (psnr, ssim) = (try #require(object["psnr"] as? Double), try #require(object["ssim"] as? Double))
        #expect(20...50 ~= psnr && 0.5...0.99 ~= ssim)
        for (options, status) in [
            ("--min-psnr \(psnr - 1)", 0), ("--min-psnr \(psnr + 1)", 1), ("--min-ssim \(ssim - 0.01)", 0),
            ("--min-ssim \(ssim + 0.01)", 1),
        ] {
            let result = try await pipectl.shell("pipectl compare photo.jpg worse.jpg -q \(options)")
            #expect(result.status == Int32(status) && result.text.isEmpty, "\(options): \(result.errors)")
        }
    }

    @Test(
        "fails with status 2 where there is nothing to compare, saying why",
        arguments: [
            ("photo.jpg small.png", "different sizes, 640×472 and 64×47"), ("photo.jpg none.png", "none.png"),
            ("photo.jpg", "<b>"), ("- -", "once"), ("photo.jpg photo.jpg --min-ssim 2", "--min-ssim takes"),
            ("photo.jpg photo.jpg --min-psnr nan", "--min-psnr takes"),
        ])
    func refusals(arguments: String, expected: String) async throws {
        let result = try await pipectl.shell(
            "pipectl thumb photo.jpg -s 64 -o small.png -q; pipectl compare \(arguments)")
        #expect(result.status == 2)
        #expect(result.errors.contains(expected), "\(result.errors)")
    }

    @Test("scales the larger picture if it is told to")
    func sizes() async throws {
        let result = try await pipectl.shell(
            "pipectl thumb photo.jpg -s 64 -o small.png -q; pipectl compare photo.jpg small.png --scale --min-psnr 25")
        #expect(result.status == 0 && result.text.hasPrefix("PSNR "), "\(result.text) \(result.errors)")
        let other = try await pipectl.shell("pipectl compare small.png photo.jpg --scale --json")
        #expect(try other.objects().first?["width"] as? Int == 64, "\(other.errors)")
    }

    @Test("draws where two pictures differ, and overwrites nothing by itself")
    func difference() async throws {
        let result = try await pipectl.shell(
            """
            pipectl run photo.jpg --ops roundCorners=60 -o round.png -q; pipectl compare photo.jpg round.png -o d.png
            pipectl compare photo.jpg photo.jpg -o same.png
            """)
        #expect(result.status == 0 && pipectl.exists("d.png") && pipectl.exists("same.png"), "\(result.errors)")
        let again = try await pipectl.shell("pipectl compare photo.jpg round.png -o d.png")
        #expect(again.status == 2 && again.errors.contains("d.png"), "\(again.errors)")
        let source = try await pipectl.shell("pipectl compare photo.jpg round.png -o round.png -y")
        #expect(source.status == 2 && source.errors.contains("source"), "\(source.errors)")
        #expect(try await pipectl.shell("pipectl compare photo.jpg photo.jpg -o - | head -c 4").output.first == 0x89)
    }

    @Test("compares upright pictures")
    func orientation() async throws {
        try pipectl.add("good/exif-orientation-6.jpg", as: "turned.jpg")
        let result = try await pipectl.shell("pipectl convert turned.jpg up.png -q; pipectl compare turned.jpg up.png")
        #expect(result.text.contains("no pixel differs"), "\(result.errors)")
    }
}
