import Pipeline
import PipelineImages
import PipelineTesting
import Testing

@Suite("An Accept field and what there is to show decide the format (RFC 9110 section 12.5.1)")
struct AcceptedFormatsTests {
    private static let browser = "image/avif,image/webp,image/apng,image/svg+xml,image/*,*/*;q=0.8"

    private func best(_ accept: String?, alpha: Bool = false, motion: Bool = false) -> ImageFormat {
        AcceptedFormats(accept: accept).best(hasAlpha: alpha, isAnimated: motion)
    }

    @Test("Of formats that are equally welcome the one that packs best is taken")
    func browsers() {
        #expect(best(Self.browser) == .avif)
        #expect(best("image/webp,*/*") == .webp)
        #expect(best("image/png,image/jpeg") == .jpeg)
    }

    @Test("Motion goes to WebP or GIF, transparency never to JPEG while there is another")
    func content() {
        #expect(best(Self.browser, motion: true) == .webp)
        #expect(best("*/*", motion: true) == .gif)
        #expect(best("image/avif", motion: true) == .avif)
        #expect(best(Self.browser, alpha: true) == .avif)
        #expect(best("*/*", alpha: true) == .png)
        #expect(best("image/jpeg", alpha: true) == .jpeg)
    }

    @Test(
        "A client that says nothing, or only */*, gets what every client knows", arguments: [nil, "", "*/*", "image/*"])
    func silence(_ accept: String?) {
        #expect(best(accept) == .jpeg)
        #expect(best(accept, alpha: true) == .png)
    }

    @Test("Weights count before size, and a weight of 0 forbids (section 12.4.2)")
    func weights() {
        #expect(best("image/avif;q=0.5, image/webp;q=0.9, image/jpeg;q=0.1") == .webp)
        #expect(best("image/avif;q=0, image/webp;q=0.001, image/jpeg;q=0") == .webp)
        #expect(best("image/jpeg, image/webp;q=0.999") == .jpeg)
        #expect(best("image/png;q=0.2, image/*;q=0.1") == .png)
    }

    @Test("The more specific range counts, wherever it stands")
    func specificity() {
        #expect(best("*/*;q=1, image/*;q=0.1, image/webp;q=0.5, image/jpeg;q=0.4") == .webp)
        #expect(best("image/jpeg;q=0, */*") == .png)
        #expect(best("text/html, */*;q=0.1") == .jpeg)
    }

    @Test("Letters' case and spaces make no difference, and what makes no sense is passed over")
    func malformed() {
        #expect(best(" IMAGE/WebP ; Q=1 , image/avif;q=2, image/avif;q=x, ;;, image") == .webp)
        #expect(best("image/avif;level=1, image/webp") == .webp)
        #expect(best(String(repeating: ",;/=q", count: 10_000)) == .jpeg)
    }

    @Test("A format is chosen for pictures of its sizes alone")
    func sizes() {
        let sizes: [ImageFormat: ClosedRange<Int>] = [.avif: 100...10_000, .webp: 0...40_000]
        let formats = AcceptedFormats(accept: Self.browser, sizes: sizes)
        func best(_ width: Int, _ height: Int, alpha: Bool = false, motion: Bool = false) -> ImageFormat {
            formats.best(hasAlpha: alpha, isAnimated: motion, size: PixelSize(width: width, height: height))
        }
        #expect(best(9, 11) == .webp && best(10, 10) == .avif && best(100, 100) == .avif)
        #expect(best(73, 137) == .webp && best(200, 200) == .webp && best(13, 3077) == .jpeg)
        #expect(best(201, 200, alpha: true) == .png && best(201, 200, motion: true) == .gif)
        // Rules that change nothing for a client make no list of its own.
        let plain = AcceptedFormats(accept: "image/jpeg")
        #expect(AcceptedFormats(accept: "image/jpeg", sizes: sizes) == plain)
        #expect(formats != AcceptedFormats(accept: Self.browser))
        #expect("\(formats)" != "\(AcceptedFormats(accept: Self.browser))")
    }

    @Test("Each format has its own quality where it is given one")
    func qualities() async throws {
        var options = EncodeOptions(quality: 80)
        options.qualities = [.webp: 30]
        let size = PixelSize(width: 64, height: 48)
        let pixels = (0..<64 * 48 * 3).map { UInt8(truncatingIfNeeded: $0 * $0 / 7) }
        let image = DecodedImage(size: size, layout: .rgb, pixels: pixels)
        func bytes(_ accept: String, _ options: EncodeOptions) async throws -> [UInt8]? {
            let list = ImagePipeline {
                ClosureStage("Draw", accepts: .empty, produces: .decoded) { load in
                    load.advance(to: .decoded(image), from: .inline)
                    return .done
                }
                Encode(AcceptedFormats(accept: accept), options: options)
            }
            return try await list.load(ImageRequest(.bytes([]))).encoded?.bytes
        }
        #expect(try await bytes("image/webp", options) == bytes("image/webp", EncodeOptions(quality: 30)))
        #expect(try await bytes("image/jpeg", options) == bytes("image/jpeg", EncodeOptions(quality: 80)))
        #expect(Encode(.webp, options: options).signature == Encode(.webp, quality: 30).signature)
    }

    @Test("A client that accepts none of them gets JPEG or PNG all the same (section 12.4.1)")
    func nothing() {
        #expect(best("text/html") == .jpeg)
        #expect(best("text/html", alpha: true) == .png)
    }

    @Test("Fields that mean the same here are equal, so that they share a key")
    func keys() {
        #expect(
            AcceptedFormats(accept: "image/webp, image/svg+xml, */*")
                == AcceptedFormats(accept: "text/html;q=0.1,*/*;q=1.0,IMAGE/WEBP"))
        #expect(
            Encode(AcceptedFormats(accept: "image/webp,*/*")).signature
                != Encode(AcceptedFormats(accept: "image/avif,*/*")).signature)
    }

    @Test("Weights that lead to the same formats are one key, and without weights there are at most ten")
    func variants() {
        var (weighed, plain) = (Set<String>(), Set<String>())
        var random = SeededGenerator(seed: 1)
        for _ in 0..<10_000 {
            let ranges = ["avif", "webp", "jpeg", "png", "gif", "*"].filter { _ in Bool.random(using: &random) }
            let field = ranges.shuffled(using: &random).map { name in
                "image/\(name);q=\(Double(Int.random(in: 0...4, using: &random)) / 4)"
            }.joined(separator: ",")
            weighed.insert(Encode(AcceptedFormats(accept: field)).signature ?? "")
            let counted = AcceptedFormats(accept: field, countsWeights: false)
            plain.insert(Encode(counted).signature ?? "")
        }
        #expect(plain.count <= 10 && plain.count > 4, "\(plain)")
        #expect(weighed.count <= 20, "\(weighed)")
        #expect(
            Encode(AcceptedFormats(accept: "image/avif;q=0.900,image/webp;q=0.8")).signature
                == Encode(AcceptedFormats(accept: "image/avif;q=0.901,image/webp;q=0.8")).signature)
    }

    @Test("Without weights the format that packs best is taken, and 0 still forbids")
    func withoutWeights() {
        func best(_ accept: String) -> ImageFormat {
            AcceptedFormats(accept: accept, countsWeights: false).best(hasAlpha: false, isAnimated: false)
        }
        #expect(best("image/jpeg, image/webp;q=0.1") == .webp)
        #expect(best("image/jpeg, image/webp;q=0, */*;q=0.1") == .jpeg)
    }
}
