import CWebP
import Pipeline

/// Pixels as libwebp's encoder wants them.
enum WebPPixels {
    /// How many rows are handed over in one go. Colours are shared by two of them, so that an even number gives what all
    /// rows at once would.
    private static let stripHeight = 64

    /// Runs `body` with a frame's pixels; work that is done with the picture is cancelled with `cancellation`.
    static func withPicture(
        of frame: DecodedImage.Frame, in image: DecodedImage, asARGB: Bool, _ cancellation: WorkCancellation,
        _ body: (inout WebPPicture) throws -> Void
    ) throws {
        let image = try image.colours(of: frame, cancellation)
        var picture = try empty(image.size, asARGB: asARGB)
        defer { WebPPictureFree(&picture) }
        if image.layout.hasAlpha { picture.colorspace = WEBP_YUV420A }
        guard WebPPictureAlloc(&picture) != 0 else { throw WebPEncoder.refused("out of memory") }
        try image.withPixels { pixels in
            for top in stride(from: 0, to: image.height, by: stripHeight) {
                try cancellation.check()
                try fill(top..<min(image.height, top + stripHeight), of: &picture, with: pixels, image.layout)
            }
        }
        picture.progress_hook = { _, picture in
            guard let context = picture?.pointee.user_data else { return 1 }
            return Unmanaged<WorkCancellation>.fromOpaque(context).takeUnretainedValue().isCancelled ? 0 : 1
        }
        picture.user_data = Unmanaged.passUnretained(cancellation).toOpaque()
        try withExtendedLifetime(cancellation) { try body(&picture) }
    }

    /// A picture that has no memory yet.
    private static func empty(_ size: PixelSize, asARGB: Bool) throws(LoadError) -> WebPPicture {
        var picture = WebPPicture()
        guard WebPPictureInit(&picture) != 0 else { throw WebPEncoder.refused("libwebp is of another version") }
        picture.width = Int32(size.width)
        picture.height = Int32(size.height)
        picture.use_argb = asARGB ? 1 : 0
        return picture
    }

    /// Lets libwebp convert some rows, which it would else do with all of them before it looks whether to go on.
    private static func fill(
        _ rows: Range<Int>, of picture: inout WebPPicture, with pixels: UnsafeBufferPointer<UInt8>,
        _ layout: PixelLayout
    ) throws(LoadError) {
        let width = Int(picture.width)
        var strip = try empty(PixelSize(width: width, height: rows.count), asARGB: picture.use_argb != 0)
        defer { WebPPictureFree(&strip) }
        let start = pixels.baseAddress.map { $0 + rows.lowerBound * width * layout.channelCount }
        let imported =
            layout.hasAlpha
            ? WebPPictureImportRGBA(&strip, start, Int32(width * 4))
            : WebPPictureImportRGB(&strip, start, Int32(width * 3))
        guard imported != 0 else { throw WebPEncoder.refused("out of memory") }
        func copy<Sample>(
            _ from: UnsafePointer<Sample>?, _ fromStride: Int32, _ to: UnsafeMutablePointer<Sample>?, _ toStride: Int32,
            _ lines: Range<Int>
        ) {
            guard let from, let to else { return }
            for (index, line) in lines.enumerated() {
                (to + line * Int(toStride)).update(
                    from: from + index * Int(fromStride), count: Int(min(fromStride, toStride)))
            }
        }
        if picture.use_argb != 0 {
            copy(strip.argb, strip.argb_stride, picture.argb, picture.argb_stride, rows)
            return
        }
        let colours = rows.lowerBound / 2..<(rows.upperBound + 1) / 2
        copy(strip.y, strip.y_stride, picture.y, picture.y_stride, rows)
        copy(strip.u, strip.uv_stride, picture.u, picture.uv_stride, colours)
        copy(strip.v, strip.uv_stride, picture.v, picture.uv_stride, colours)
        if strip.a != nil {
            copy(strip.a, strip.a_stride, picture.a, picture.a_stride, rows)
        } else if let alpha = picture.a {
            // A strip that is opaque has no alpha of its own.
            let stride = Int(picture.a_stride)
            (alpha + rows.lowerBound * stride).update(repeating: 255, count: rows.count * stride)
        }
    }
}
