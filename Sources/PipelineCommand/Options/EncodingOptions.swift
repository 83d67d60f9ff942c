public import ArgumentParser
import Pipeline
public import Stages

/// The option for the format of results, shared by all verbs that write.
struct FormatOption: ParsableArguments {
    @Option(
        name: [.customShort("f", allowingJoined: true), .customLong("format")],
        help: ArgumentHelp(
            "\(Formats.words(Formats.writable, "or")). (default: as the output's name says, or as the source is, also on standard output)",
            valueName: "format"),
        completion: .list(Formats.writable))
    var chosen: WritableFormat?
}

/// The options for how formats are written.
struct EncodingOptions: ParsableArguments {
    @Option(
        name: [.customShort("Q", allowingJoined: true), .long],
        help: ArgumentHelp(
            "From 1, small, to 100, faithful. For \(Formats.words(Formats.using(.quality), "and")). (default: 80)",
            valueName: "1-100"),
        completion: .default)
    var quality: Int?

    @Option(help: ArgumentHelp("Use the best quality within this size. Such as 100K.", valueName: "size"))
    var maxBytes: CountArgument?

    @Option(
        help:
            "Keep some of the source's metadata. One of \(KeptMetadata.allCases.map(\.rawValue).joined(separator: ", "))."
    )
    var metadata = KeptMetadata.none

    @Option(
        help: ArgumentHelp(
            "The result's colours, srgb or source. The source's stay where stages and format keep them. (default: source)",
            valueName: "colours"))
    var gamut: Gamut?

    @Option(
        help: ArgumentHelp(
            "Bits a channel, 8 or source. The source's stay where stages and format keep them. (default: source)",
            valueName: "bits"))
    var depth: Depth?

    @Option(
        help: ArgumentHelp(
            "HDR gain maps of phones: keep, apply or drop. They stay where stages and format keep them. (default: keep)",
            valueName: "what"))
    var gainMap: GainMapHandling?

    @Flag(help: "Write \(Formats.words(Formats.using(.lossless), "and")) without loss.") var lossless = false

    @Flag(help: "Write \(Formats.words(Formats.using(.progressive), "and")) so that it shows coarsely first.")
    var progressive = false

    @Option(
        help: ArgumentHelp("Compression effort. For \(Self.efforts); higher is slower and smaller.", valueName: "n"),
        completion: .default)
    var effort: Int?

    @Option(
        help: ArgumentHelp(
            "Chroma subsampling: 4:4:4, 4:2:2 or 4:2:0. For jpg and avif. (default: 4:4:4 from quality 90, 4:2:0 below)",
            valueName: "ratio"))
    var chroma: EncodeOptions.Chroma?

    @Option(
        name: [.customLong("colours"), .customLong("colors")],
        help: ArgumentHelp(
            "Write a palette of at most N colours. For png and gif. (default: all colours in png, 256 in gif)",
            valueName: "2-256"), completion: .list(["16", "64", "256"]))
    var colors: Int?

    @OptionGroup(visibility: .hidden) var defaults: EncodingDefaults

    private static var efforts: String {
        Formats.words(
            Formats.efforts.map { "\($0.name) (\($0.range.lowerBound)-\($0.range.upperBound))" }, "and")
    }

    /// The efforts that some format takes.
    private static var allEfforts: ClosedRange<Int> {
        let ranges = Formats.efforts.map(\.range)
        return (ranges.map(\.lowerBound).min() ?? 0)...(ranges.map(\.upperBound).max() ?? 0)
    }

    func validate() throws {
        let all = Self.allEfforts
        try check("-Q", quality, 1...100)
        if let effort, !all.contains(effort) {
            let ranges = Formats.efforts.map { "\($0.range.lowerBound) to \($0.range.upperBound) for \($0.name)" }
            throw ValidationError("--effort takes \(Formats.words(ranges, "and")), not \(effort).")
        }
        try check("--colours", colors, 2...256)
        if let maxBytes, maxBytes.count < 1 { throw ValidationError("--max-bytes takes 1 or more.") }
        try check("The setting quality", defaults.quality, 1...100)
        try check("The setting effort", defaults.effort, all)
        if let size = defaults.maxBytes, size.count < 1 {
            throw ValidationError("The setting max-bytes takes 1 or more.")
        }
    }

    /// The options of the stage that encodes.
    func options(_ format: ImageFormat) -> EncodeOptions {
        // A default that a format can't keep is left out; on the command line it is an error.
        let isByQuality = Formats.codecs.codec(for: format)?.encoder?.uses(.quality) == true
        let standardMaxBytes = isByQuality ? defaults.maxBytes : nil
        var options = EncodeOptions(
            quality: quality ?? defaults.quality ?? 80, maxBytes: (maxBytes ?? standardMaxBytes)?.count,
            metadata: metadata)
        // One scale of efforts for all formats, as far as each goes.
        let shared = SharedEncodeOptions(
            lossless: lossless || defaults.lossless, progressive: progressive || defaults.progressive,
            effort: effort ?? defaults.effort)
        options.set(shared, for: Formats.codecs)
        if let chroma {
            options.jpeg.chroma = chroma
            #if AVIF
            options.avif.chroma = chroma
            #endif
        }
        if let colors {
            #if PNG
            options.png.colors = colors
            #endif
            #if GIF
            options.gif.colors = colors
            #endif
        }
        return options
    }

    /// Checks the options against the formats that will be written.
    /// - Returns: A sentence for each option without an effect.
    /// - Throws: `ValidationError` for a value that a format doesn't take.
    func check(_ formats: Set<ImageFormat>) throws -> [String] {
        for (name, range) in Formats.efforts {
            guard let effort, !range.contains(effort), formats.contains(where: { $0.fileExtension == name }) else {
                continue
            }
            throw ValidationError(
                "--effort takes \(range.lowerBound) to \(range.upperBound) for \(name), not \(effort).")
        }
        guard !formats.isEmpty else { return [] }
        let names = formats.map(\.fileExtension).sorted().joined(separator: " and ")
        let encoders = formats.compactMap { Formats.codecs.codec(for: $0)?.encoder }
        let given: [(name: String, isGiven: Bool, option: SharedEncodeOptions.Name)] = [
            ("-Q", quality != nil, .quality), ("--effort", effort != nil, .effort), ("--lossless", lossless, .lossless),
            ("--progressive", progressive, .progressive),
        ]
        let special: [(name: String, isGiven: Bool, formats: Set<ImageFormat>)] = [
            ("--chroma", chroma != nil, [.jpeg, .avif]), ("--colours", colors != nil, [.png, .gif]),
        ]
        let idle = special.filter { $0.isGiven && $0.formats.isDisjoint(with: formats) }.map(\.name)
        let unused = given.filter { given in given.isGiven && !encoders.contains { $0.uses(given.option) } }.map(\.name)
        return (unused + idle).map { "\($0) has no effect on \(names)." }
    }

    /// Checks the options against the formats of the results, and warns of those without effect.
    func check(_ jobs: [Job], _ report: ReportOptions) throws {
        let targets = jobs.flatMap { (try? $0.targets.get()) ?? [] }.filter { !$0.followsSource }
        try check(Set(targets.map(\.format)), report)
    }

    /// Checks the options against formats, and warns of those without effect if a report is given.
    func check(_ formats: Set<ImageFormat>, _ report: ReportOptions?) throws {
        let warnings = try check(formats)
        for warning in warnings { report?.warn(warning) }
    }
}

/// The user's settings of these options. They rank below a file's name and the command line, and are ignored for
/// formats that have no use for them.
struct EncodingDefaults: ParsableArguments {
    @Option(name: .customLong("default-format")) var format: WritableFormat?
    @Option(name: .customLong("default-quality")) var quality: Int?
    @Option(name: .customLong("default-max-bytes")) var maxBytes: CountArgument?
    @Option(name: .customLong("default-effort")) var effort: Int?
    @Flag(name: .customLong("default-lossless")) var lossless = false
    @Flag(name: .customLong("default-progressive")) var progressive = false
}

extension KeptMetadata: ExpressibleByArgument {}

extension Gamut: ExpressibleByArgument {}

extension Depth: ExpressibleByArgument {}

extension GainMapHandling: ExpressibleByArgument {}

extension EncodeOptions.Chroma: ExpressibleByArgument {
    /// The ratios, without the default.
    public static var allValueStrings: [String] { allCases.filter { $0 != .automatic }.map(\.rawValue) }

    /// Reads a ratio such as `4:2:0`.
    public init?(argument: String) {
        guard Self.allValueStrings.contains(argument) else { return nil }
        self.init(rawValue: argument)
    }
}
