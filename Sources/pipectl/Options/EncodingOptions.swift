public import ArgumentParser
import Pipeline
public import Stages

/// In which format results are written, and how: the same words in every verb that writes.
struct EncodingOptions: ParsableArguments {
    @Option(
        name: [.customShort("f"), .long],
        help: ArgumentHelp(
            "jpg, png, webp, avif, gif or tif. (default: as the output's name says, or as the source is)",
            valueName: "format"))
    var format: WritableFormat?

    @OptionGroup var how: EncodingDetails
}

/// How formats are written.
struct EncodingDetails: ParsableArguments {
    @Option(
        name: [.customShort("Q"), .long],
        help: ArgumentHelp("From 1, small, to 100, faithful; for jpg, webp and avif.", valueName: "1-100"))
    var quality = 80

    @Option(help: ArgumentHelp("Lower the quality until a file has no more bytes, such as 100K.", valueName: "size"))
    var maxBytes: ByteCountArgument?

    @Option(
        help: "What of the source's metadata is kept: \(KeptMetadata.allCases.map(\.rawValue).joined(separator: ", "))."
    )
    var metadata = KeptMetadata.none

    @Flag(help: "Write webp and avif without loss.")
    var lossless = false

    @Flag(help: "Write jpg so that it shows coarsely first.")
    var progressive = false

    @Option(help: ArgumentHelp("How hard webp (0-6) and avif (0-9) try to be small.", valueName: "n"))
    var effort: Int?

    func validate() throws {
        do { try options.check() } catch { throw ValidationError(error.message) }
    }

    /// All of it as the stage that writes takes it.
    var options: EncodeOptions {
        var options = EncodeOptions(quality: quality, maxBytes: maxBytes?.bytes, metadata: metadata)
        options.jpeg.progressive = progressive
        (options.webp.lossless, options.avif.lossless) = (lossless, lossless)
        if let effort {
            // One scale for both, as far as each goes.
            options.webp.effort = min(6, effort)
            options.avif.effort = effort
        }
        return options
    }
}

extension KeptMetadata: ExpressibleByArgument {}
