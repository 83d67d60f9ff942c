import Pipeline
import Stages

/// Says that an animation loses frames where its first one alone is kept.
enum DroppedFrames {
    /// The formats that could have kept them.
    private static let animated: Set<ImageFormat> = [.gif, .webp, .avif]

    /// A warning; `nil` if no frame is lost, or the result's format has one frame anyway.
    static func warning(_ header: ImageHeader, _ file: [UInt8], kept: Int, result: ImageFormat) -> String? {
        if header.format == .png, animated.contains(result) || result == .png, let frames = animationFrames(ofPNG: file)
        {
            return "The file is an animated PNG with \(frames) frames; only the first one is read."
        }
        guard animated.contains(result), animated.contains(header.format), header.frames > kept else { return nil }
        let which = kept == 1 ? "first one is" : "first \(kept) are"
        return
            "The animation has \(header.frames) frames; only the \(which) kept. --frames \(min(header.frames, 10_000)) "
            + "keeps them all."
    }

    /// The number of frames that an `acTL` chunk before the pixels promises (PNG section 11.3.6.1), if more than one.
    private static func animationFrames(ofPNG file: [UInt8]) -> Int? {
        func number(at offset: Int) -> Int { file[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) } }
        var offset = 8
        while offset + 12 <= file.count {
            let length = number(at: offset)
            let type = String(decoding: file[offset + 4..<offset + 8], as: UTF8.self)
            if type == "IDAT" { return nil }
            if type == "acTL", length >= 8 {
                let frames = number(at: offset + 8)
                return frames > 1 ? frames : nil
            }
            offset += length + 12
        }
        return nil
    }
}
