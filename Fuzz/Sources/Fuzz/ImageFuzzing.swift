import Pipeline

@testable import PipelineHTTP
@testable import PipelineImages
@testable import Stages

/// Recognizes untrusted files and reads their headers.
enum ImageFuzzing {
    static func sniff(_ bytes: [UInt8]) {
        let codecs = ImageCodecs.standard.adding(.svg).adding(.jxl)
        let format = codecs.codec(of: bytes)?.format
        // What an SVG costs is counted before librsvg reads it.
        if format == .svg, let file = try? SVGFile(bytes) {
            precondition(file.measurable.count <= SVGBounds.bytes, "an SVG beyond the bounds passed")
        }
        // Only the first bytes count. A HEIF file's codec, and the root of an SVG, may come later than others' signatures.
        let decisive = [.heic, .avif, .svg].contains(format) ? 1 << 16 : 4096
        guard let format, bytes.count > decisive else { return }
        precondition(codecs.codec(of: Array(bytes.prefix(decisive)))?.format == format)
    }

    static func drawPlaceholders(_ bytes: [UInt8]) {
        let size = PixelSize(width: 3, height: 2)
        for image in [
            try? DecodedImage(thumbHash: bytes, size: size), try? DecodedImage(thumbHash: bytes),
            try? DecodedImage(blurHash: String(decoding: bytes, as: UTF8.self), size: size),
        ] {
            guard let image else { continue }
            precondition(image.width <= 32 && image.height <= 32, "a placeholder is larger than it should be")
        }
    }

    static func readHeader(_ bytes: [UInt8]) {
        // Other formats have to be enabled explicitly. Bugs in librsvg and libjxl aren't ours, and libxml2 leaks
        // entities.
        guard let decoder = ImageCodecs.standard.codec(of: bytes)?.decoder else { return }
        guard let header = try? decoder.header(of: bytes, cancellation: WorkCancellation()) else {
            return
        }
        let limits = ImageLimits()
        guard (try? limits.check(header)) != nil else { return }
        precondition(header.size.width > 0 && header.size.height > 0, "a picture without pixels passed")
        precondition(header.size.width <= limits.pixels / header.size.height, "a picture beyond the limits passed")
        guard let metadata = try? ImageMetadata.reading(bytes, by: decoder, WorkCancellation()) else { return }
        for channel in metadata.gainMap?.parameters?.channels ?? [] {
            precondition(channel.gamma > 0 && channel.minimum <= channel.maximum, "a gain map against the rules passed")
        }
    }
}
