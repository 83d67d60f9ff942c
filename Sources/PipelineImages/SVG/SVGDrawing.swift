#if SVG
import CSVG
import Pipeline

/// A parsed SVG.
final class SVGDrawing {
    /// The size in CSS pixels. A fraction counts as a pixel, as rsvg-convert has it.
    let size: PixelSize

    private let drawing: OpaquePointer
    private let width: Double
    private let height: Double

    /// - Throws: `LoadError` with `undecodable` if the file is not an SVG or has no size.
    init(_ bytes: [UInt8]) throws {
        var failure = csvg_failure()
        var (width, height) = (0.0, 0.0)
        let opened = bytes.withUnsafeBufferPointer { buffer in
            buffer.baseAddress.flatMap { csvg_open($0, buffer.count, &width, &height, &failure) }
        }
        guard let opened else { throw Self.damaged(failure) }
        guard width > 0, height > 0 else {
            csvg_close(opened)
            throw LoadError(
                .undecodable, subject: "",
                "The SVG has no size. Give its root element a width and a height, or a viewBox, above 0.")
        }
        // A side that no picture has is refused by the limits.
        func side(_ length: Double) -> Int { Int(min(length.rounded(.up), 1e9)) }
        (drawing, self.width, self.height) = (opened, width, height)
        size = PixelSize(width: side(width), height: side(height))
    }

    deinit { csvg_close(drawing) }

    /// Draws the picture: RGBA, straight alpha.
    /// - Throws: `LoadError` with `undecodable` if librsvg can't draw it.
    func pixels(_ target: PixelSize) throws -> [UInt8] {
        // At its own size, a picture with fractions of a pixel isn't stretched.
        let scaleX = target == size ? 1 : Double(target.width) / width
        let scaleY = target == size ? 1 : Double(target.height) / height
        var pixels = [UInt8](repeating: 0, count: target.bytes(4))
        var failure = csvg_failure()
        let done = pixels.withUnsafeMutableBufferPointer { buffer in
            guard let start = buffer.baseAddress else { return false }
            return csvg_draw(drawing, scaleX, scaleY, Int32(target.width), Int32(target.height), start, &failure)
        }
        guard done else { throw Self.damaged(failure) }
        return pixels
    }

    private static func damaged(_ failure: csvg_failure) -> LoadError {
        let message = withUnsafeBytes(of: failure.message) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        return LoadError(
            .undecodable, subject: "",
            "The SVG is damaged or cut off\(message.isEmpty ? "" : " (\(message))"); get a new copy.")
    }
}
#endif
