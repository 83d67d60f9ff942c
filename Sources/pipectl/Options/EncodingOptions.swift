public import ArgumentParser
import Pipeline
public import Stages

/// In which format results are written, and how: the same words in every verb that writes.
struct EncodingOptions: ParsableArguments {
    @Option(
        name: [.customShort("f", allowingJoined: true), .long],
        help: ArgumentHelp(
            "jpg, png, webp, avif, gif or tif. (default: as the output's name says, or as the source is)",
            valueName: "format"),
        completion: .list(WritableFormat.names))
    var format: WritableFormat?

    @OptionGroup var how: EncodingDetails
}

/// How formats are written.
struct EncodingDetails: ParsableArguments {
    @Option(
        name: [.customShort("Q", allowingJoined: true), .long],
        help: ArgumentHelp(
            "From 1, small, to 100, faithful; for jpg, webp and avif. (default: 80)", valueName: "1-100"),
        completion: .default)
    var quality: Int?

    @Option(
        help: ArgumentHelp("Lower the quality until a file has no more bytes, such as 100K.", valueName: "size"),
        completion: .default)
    var maxBytes: ByteCountArgument?

    @Option(
        help: "What of the source's metadata is kept: \(KeptMetadata.allCases.map(\.rawValue).joined(separator: ", "))."
    )
    var metadata = KeptMetadata.none

    @Flag(help: "Write webp and avif without loss.")
    var lossless = false

    @Flag(help: "Write jpg so that it shows coarsely first.")
    var progressive = false

    @Option(
        help: ArgumentHelp("How hard webp (0-6) and avif (0-9) try to be small.", valueName: "n"), completion: .default)
    var effort: Int?

    @OptionGroup(visibility: .hidden) var defaults: EncodingDefaults

    func validate() throws {
        if let quality, !(1...100 ~= quality) { throw ValidationError("-Q takes 1 to 100, not \(quality).") }
        if let effort, !(0...9 ~= effort) {
            throw ValidationError("--effort takes 0 to 6 for webp and 0 to 9 for avif, not \(effort).")
        }
        if let maxBytes, maxBytes.bytes < 1 { throw ValidationError("--max-bytes takes 1 or more.") }
        if let quality = defaults.quality, !(1...100 ~= quality) {
            throw ValidationError("The setting quality takes 1 to 100, not \(quality).")
        }
        if let effort = defaults.effort, !(0...9 ~= effort) {
            throw ValidationError("The setting effort takes 0 to 9, not \(effort).")
        }
        if let size = defaults.maxBytes, size.bytes < 1 {
            throw ValidationError("The setting max-bytes takes 1 or more.")
        }
    }

    /// All of it as the stage that writes takes it.
    func options(_ format: ImageFormat) -> EncodeOptions {
        // A default that a format can't keep is left out; what stands on the command line is an error there.
        let standardMaxBytes = EncodingUse.maxBytes.contains(format) ? defaults.maxBytes : nil
        var options = EncodeOptions(
            quality: quality ?? defaults.quality ?? 80, maxBytes: (maxBytes ?? standardMaxBytes)?.bytes,
            metadata: metadata)
        options.jpeg.progressive = progressive || defaults.progressive
        let isLossless = lossless || defaults.lossless
        (options.webp.lossless, options.avif.lossless) = (isLossless, isLossless)
        if let effort = effort ?? defaults.effort {
            // One scale for both, as far as each goes.
            options.webp.effort = min(6, effort)
            options.avif.effort = effort
        }
        return options
    }

    /// Holds the options against the formats that will be written.
    /// - Returns: what has no effect, in sentences.
    /// - Throws: `ValidationError` for a value that a format doesn't take.
    func check(_ formats: Set<ImageFormat>) throws -> [String] {
        if let effort, effort > 6, formats.contains(.webp) {
            throw ValidationError("--effort takes 0 to 6 for webp, not \(effort).")
        }
        guard !formats.isEmpty else { return [] }
        let names = formats.map { $0.preferredFileExtension ?? $0.name }.sorted().joined(separator: " and ")
        let given: [(name: String, isGiven: Bool, use: Set<ImageFormat>)] = [
            ("-Q", quality != nil, EncodingUse.quality), ("--effort", effort != nil, EncodingUse.effort),
            ("--lossless", lossless, EncodingUse.lossless), ("--progressive", progressive, EncodingUse.progressive),
        ]
        return given.filter { $0.isGiven && $0.use.isDisjoint(with: formats) }.map {
            "\($0.name) has no effect on \(names)."
        }
    }
}

/// Which formats have a use for an option.
enum EncodingUse {
    static let quality: Set<ImageFormat> = [.jpeg, .webp, .avif]
    static let maxBytes: Set<ImageFormat> = [.jpeg, .webp, .avif]
    static let effort: Set<ImageFormat> = [.webp, .avif]
    /// PNG and TIFF lose nothing anyway.
    static let lossless: Set<ImageFormat> = [.webp, .avif, .png, .tiff]
    static let progressive: Set<ImageFormat> = [.jpeg]
}

/// The user's settings of these options. They rank below a file's name and what stands on the command line, and are
/// left aside where a format has no use for them.
struct EncodingDefaults: ParsableArguments {
    @Option(name: .customLong("default-format")) var format: WritableFormat?
    @Option(name: .customLong("default-quality")) var quality: Int?
    @Option(name: .customLong("default-max-bytes")) var maxBytes: ByteCountArgument?
    @Option(name: .customLong("default-effort")) var effort: Int?
    @Flag(name: .customLong("default-lossless")) var lossless = false
    @Flag(name: .customLong("default-progressive")) var progressive = false
}

extension KeptMetadata: ExpressibleByArgument {}
