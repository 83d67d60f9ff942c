import Pipeline
import Stages

/// Warns of what a result lacks: frames that it could hold, and parts of a drawing.
enum Losses {
    /// The warning; `nil` if nothing is lost against the user's will.
    static func warning(_ header: ImageHeader, kept: Int, isChosen: Bool, result: ImageFormat) -> String? {
        if header.unreadFrames > 0, result.holdsMotion || result == header.format {
            return
                "The file is an animated \(header.format.name.uppercased()) with \(header.unreadFrames) frames; only the "
                + "first one is read."
        }
        if let losses = header.losses { return losses }
        guard !isChosen, header.frames > kept else { return nil }
        guard result.holdsMotion else {
            return "The animation has \(header.frames) frames; \(result.name.uppercased()) holds only the first one. "
                + "--frames 1 says that this is meant."
        }
        guard header.format.holdsMotion else { return nil }
        return
            "The animation has \(header.frames) frames; only the first \(kept == 1 ? "one is" : "\(kept) are") kept. "
            + "--frames all with a higher --max-pixels keeps them all."
    }
}
