#if WebP
import CWebP
import Pipeline

/// Pixels in the form that libwebp's encoder takes.
enum WebPPixels {
    /// Runs `body` with a frame's pixels. Encoding the picture stops when `cancellation` is cancelled.
    static func withPicture(
        of frame: DecodedImage.Frame, in image: DecodedImage, asARGB: Bool, _ cancellation: WorkCancellation,
        _ body: (inout WebPPicture) throws -> Void
    ) throws {
        let image = try image.colors(of: frame, cancellation)
        try cancellation.check()
        var picture = WebPPicture()
        guard WebPPictureInit(&picture) != 0 else { throw WebPEncoder.refused("libwebp has an incompatible version") }
        defer { WebPPictureFree(&picture) }
        picture.width = Int32(image.width)
        picture.height = Int32(image.height)
        picture.use_argb = asARGB ? 1 : 0
        let isImported = try image.withPixels { pixels in
            image.layout.hasAlpha
                ? WebPPictureImportRGBA(&picture, pixels.baseAddress, Int32(image.width * 4))
                : WebPPictureImportRGB(&picture, pixels.baseAddress, Int32(image.width * 3))
        }
        guard isImported != 0 else { throw WebPEncoder.refused("out of memory") }
        picture.progress_hook = { _, picture in
            guard let context = picture?.pointee.user_data else { return 1 }
            return Unmanaged<WorkCancellation>.fromOpaque(context).takeUnretainedValue().isCancelled ? 0 : 1
        }
        picture.user_data = Unmanaged.passUnretained(cancellation).toOpaque()
        try withExtendedLifetime(cancellation) { try body(&picture) }
    }
}
#endif
