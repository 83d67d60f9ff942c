import ArgumentParser
import Pipeline
import Stages

/// In which format results are written: the same words in every verb that writes.
struct EncodingOptions: ParsableArguments {
    @Option(
        name: [.customShort("f"), .long],
        help: ArgumentHelp(
            "jpg, png, webp, avif, gif or tif. (default: as the output's name says, or as the source is)",
            valueName: "format"))
    var format: WritableFormat?

    @Option(
        name: [.customShort("Q"), .long],
        help: ArgumentHelp("From 1, small, to 100, faithful; for jpg, webp and avif.", valueName: "1-100"))
    var quality = 80

    func validate() throws {
        guard 1...100 ~= quality else { throw ValidationError("--quality takes 1 to 100, not \(quality).") }
    }

    /// The stage that writes.
    func encode(_ format: ImageFormat) -> Encode { Encode(format, quality: quality) }

    /// Everything that changes what is written.
    var signature: String { "quality=\(quality)" }
}
