import Foundation
import Pipeline
import PipelineImages
import PipelineTesting
import Testing

@Suite("Pixels and files at hand, without a list")
struct PixelsAtHandTests {
    @Test("What is encoded is decoded again, in the box that is asked for")
    func both() async throws {
        let image = DecodedImage.filled(PixelSize(width: 60, height: 40), with: [200, 100, 50])
        let file = try await EncodedImage(encoding: image, as: .png)
        #expect(file.declaredType == "image/png")
        #expect(file.size == image.size)
        #expect(try await DecodedImage(decoding: file.bytes).frames == image.frames)
        let small = try await DecodedImage(decoding: file.bytes, maxPixelSize: 30)
        #expect(small.size == PixelSize(width: 30, height: 20))
        #expect(small.nativeSize == image.size)
    }

    @Test("Options, limits and codecs are those that are given")
    func options() async throws {
        let image = DecodedImage.filled(8)
        let file = try await EncodedImage(encoding: image, as: .jpeg, options: EncodeOptions(quality: 40))
        let tooMany = await #expect(throws: LoadError.self) {
            try await DecodedImage(decoding: file.bytes, limits: ImageLimits(pixels: 63))
        }
        #expect(tooMany?.code == .tooManyPixels)
        let unsupported = await #expect(throws: LoadError.self) {
            try await DecodedImage(decoding: file.bytes, codecs: [.png])
        }
        #expect(unsupported?.code == .unsupportedType)
        let unencodable = await #expect(throws: LoadError.self) {
            try await EncodedImage(encoding: image, as: .heic)
        }
        #expect(unencodable?.code == .unencodable)
        #expect(unencodable?.subject == "8×8 pixels")
    }

    @Test("A resize takes a width and a height as it takes a size")
    func resize() {
        let size = PixelSize(width: 80, height: 60)
        #expect(
            Resize(width: 80, height: 60, fit: .cover, enlarges: true, gravity: .north, background: .black).signature
                == Resize(size, fit: .cover, enlarges: true, gravity: .north, background: .black).signature)
        #expect(Resize(width: 80, height: 60).signature == Resize(size).signature)
    }
}
