import PipelineFile
import PipelineTesting
import Stages
import Testing

@Suite("Former names")
struct FormerNamesTests {
    @Test("resolve: what they name is the same as under the new name")
    func former() async throws {
        // Through the protocol, which isn't deprecated, so that no call warns.
        let names: any Named = Former()
        try await names.use()
    }
}

private protocol Named {
    func use() async throws
}

private struct Former: Named {
    @available(*, deprecated)
    func use() async throws {
        #expect(Colour.self == Color.self)
        #expect(CodedColours.self == CodedColors.self)
        #expect(DominantColour.self == DominantColor.self)
        #expect(Greyscale.self == Grayscale.self)
        #expect(ImageMetadata.ColourModel.self == ImageMetadata.ColorModel.self)
        #expect(ImageMetadata.ColourProfile.self == ImageMetadata.ColorProfile.self)
        #expect(PixelLayout.ColourSpace.self == PixelLayout.ColorSpace.self)
        #expect(DiskLookup.self == Lookup.self)
        #expect(StageCatalogue.self == StageCatalog.self)

        #expect(PixelLayout.grey == .gray && PixelLayout.rgb.colourSpace == PixelLayout.rgb.colorSpace)
        #expect(ImageMetadata.ColorModel.grey == .gray && Gravity.centre == .center)
        var options = EncodeOptions()
        (options.png.colours, options.gif.colours) = (16, 32)
        #expect(options.png.colors == 16 && options.gif.colors == 32)
        let size = PixelSize(square: 9)
        #expect(Pad(to: size, colour: .white).signature == Pad(to: size, color: .white).signature)
        #expect(Pad(top: 1, colour: .white).signature == Pad(top: 1, color: .white).signature)
        let image = DecodedImage(size: size, layout: .rgb, pixels: [UInt8](repeating: 7, count: 9 * 9 * 3))
        #expect(try await image.dominantColours(1).map(\.colour) == image.dominantColors(1).map(\.color))

        // Those that take more to make are only named.
        _ = \ImageHeader.colours
        _ = \ImageHeader.codedColours
        _ = \ImageMetadata.colours
        _ = \ImageMetadata.codedColours
        _ = LimitErrors.init(_:_:_:)
        _ = Fetch.init(responses:client:byteLimit:)
        _ = CachingClient.init(_:_:) as (HTTPCache, any TransferClient) -> CachingClient
        _ = expectTrace(_:contains:) as (Trace, [String]) throws(TraceMismatch) -> Void
    }
}
