import Pipeline
import Stages

/// Says that an animation loses frames where its first one alone is kept.
enum DroppedFrames {
    /// A warning; `nil` if no frame is lost, or the result's format has one frame anyway.
    static func warning(_ header: ImageHeader, kept: Int, result: ImageFormat) -> String? {
        func holdsMotion(_ format: ImageFormat) -> Bool {
            Formats.codecs.codec(for: format)?.encoder?.holdsMotion == true
        }
        if header.unreadFrames > 0, holdsMotion(result) || result == header.format {
            return
                "The file is an animated \(header.format.name.uppercased()) with \(header.unreadFrames) frames; only the "
                + "first one is read."
        }
        guard holdsMotion(result), holdsMotion(header.format), header.frames > kept else { return nil }
        let which = kept == 1 ? "first one is" : "first \(kept) are"
        return
            "The animation has \(header.frames) frames; only the \(which) kept. --frames \(min(header.frames, 10_000)) "
            + "keeps them all."
    }
}
