import Pipeline
import Testing

@testable import PipelineImages

@Suite("A comparison of two pictures")
struct ImageComparisonTests {
    private static let size = PixelSize(width: 32, height: 24)

    private static func picture(
        _ layout: PixelLayout = .rgb, _ color: (_ x: Int, _ y: Int) -> [Int]
    ) -> DecodedImage {
        let pixels = (0..<size.height).flatMap { y in
            (0..<size.width).flatMap { x in color(x, y).map { UInt8($0 % 256) } }
        }
        return DecodedImage(size: size, layout: layout, pixels: pixels)
    }

    @Test("gives the PSNR and SSIM that NumPy and scikit-image calculate")
    func reference() async throws {
        let left = Self.picture { x, y in [x * 7 + y * 3, x * 5 + y * 11, x * y] }
        let right = Self.picture { x, y in [x * 7 + y * 3 + (x + y) % 5 * 3, x * 5 + y * 11, x * y + x % 3] }
        let found = try await ImageComparison(of: left, right)
        // structural_similarity(…, gaussian_weights=True, sigma=1.5, use_sample_covariance=False, data_range=255)
        #expect(abs(found.psnr - 22.529556961811434) < 1e-9)
        #expect(abs(found.ssim - 0.9954316411782237) < 1e-9)
        let turned = try await ImageComparison(of: right, left)
        #expect(abs(turned.psnr - found.psnr) < 1e-9 && abs(turned.ssim - found.ssim) < 1e-9)
    }

    @Test("finds equal pictures equal, whatever their layouts")
    func equal() async throws {
        let layouts: [PixelLayout] = [.gray, .rgb, .rgba]
        for left in layouts {
            for right in layouts {
                func gray(_ layout: PixelLayout) -> DecodedImage {
                    Self.picture(layout) { x, y in
                        layout == .gray
                            ? [x * 7 + y] : [x * 7 + y, x * 7 + y, x * 7 + y] + (layout == .rgba ? [255] : [])
                    }
                }
                let found = try await ImageComparison(of: gray(left), gray(right))
                #expect(found.psnr == .infinity && found.ssim == 1)
            }
        }
    }

    @Test("sees what is white on nothing, and what is black on nothing", arguments: [0, 255])
    func transparency(level: Int) async throws {
        let clear = Self.picture(.rgba) { _, _ in [level, level, level, 0] }
        let square = Self.picture(.rgba) { x, y in [level, level, level, x < 16 && y < 12 ? 255 : 0] }
        let found = try await ImageComparison(of: clear, square)
        #expect(found.psnr < 10)
        #expect(found.ssim < 0.9)
    }

    @Test("refuses pictures of different sizes")
    func sizes() async throws {
        let small = DecodedImage(size: PixelSize(width: 1, height: 2), layout: .gray, pixels: [0, 9])
        await #expect(throws: LoadError.self) {
            try await ImageComparison(of: small, Self.picture { _, _ in [0, 0, 0] })
        }
        // The window is no larger than the picture.
        let other = DecodedImage(size: PixelSize(width: 1, height: 2), layout: .gray, pixels: [0, 8])
        #expect(try await ImageComparison(of: small, other).ssim < 1)
    }
}
