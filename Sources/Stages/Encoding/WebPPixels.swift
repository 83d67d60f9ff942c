import CWebP
import Pipeline

/// Pixels as libwebp's encoder wants them.
enum WebPPixels {
    /// Runs `body` with a frame's pixels; work that is done with the picture is cancelled with `cancellation`.
    static func withPicture(
        of frame: DecodedImage.Frame, in image: DecodedImage, asARGB: Bool, _ cancellation: WorkCancellation,
        _ body: (inout WebPPicture) throws -> Void
    ) throws {
        var picture = WebPPicture()
        guard WebPPictureInit(&picture) != 0 else { throw WebPEncoder.refused("libwebp is of another version") }
        defer { WebPPictureFree(&picture) }
        picture.width = Int32(image.width)
        picture.height = Int32(image.height)
        picture.progress_hook = { _, picture in
            guard let context = picture?.pointee.user_data else { return 1 }
            return Unmanaged<WorkCancellation>.fromOpaque(context).takeUnretainedValue().isCancelled ? 0 : 1
        }
        picture.user_data = Unmanaged.passUnretained(cancellation).toOpaque()
        picture.use_argb = asARGB ? 1 : 0
        let imported =
            switch image.layout {
            case .rgba:
                frame.pixels.withUnsafeBufferPointer {
                    WebPPictureImportRGBA(&picture, $0.baseAddress, Int32(image.width * 4))
                }
            case .rgb:
                frame.pixels.withUnsafeBufferPointer {
                    WebPPictureImportRGB(&picture, $0.baseAddress, Int32(image.width * 3))
                }
            case .grey:
                frame.pixels.flatMap { [$0, $0, $0] }.withUnsafeBufferPointer {
                    WebPPictureImportRGB(&picture, $0.baseAddress, Int32(image.width * 3))
                }
            }
        guard imported != 0 else { throw WebPEncoder.refused("out of memory") }
        try withExtendedLifetime(cancellation) { try body(&picture) }
    }
}
