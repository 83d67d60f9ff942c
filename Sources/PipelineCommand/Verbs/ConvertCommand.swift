import ArgumentParser

/// Writes an image in another format.
struct ConvertCommand: WorkVerb {
    static let configuration = CommandConfiguration(
        "convert", "Write an image in another format.",
        """
        The format follows the extension of OUT, or -f. OUT may be a file, a folder, a pattern as after -o, or - for \
        standard output.

        Examples:
          \(Program.name) convert photo.heic photo.jpg
          \(Program.name) convert photo.png photo.webp --quality 70
          curl -s https://example.com/a.jpg | \(Program.name) convert - - -f avif > a.avif
        """)

    @Argument(help: ArgumentHelp("A file, a URL, or - for standard input.", valueName: "in"), completion: .images)
    var input: String

    @Argument(help: ArgumentHelp("A file, or - for standard output.", valueName: "out"), completion: .file())
    var output: String

    @OptionGroup(title: "Transforms") var operations: OperationOptions
    @OptionGroup(title: "Output format") var format: FormatOption
    @OptionGroup(title: "Output format") var encoding: EncodingOptions
    @OptionGroup(title: "Output") var overwrite: OverwriteOptions
    @OptionGroup var results: ResultOptions
    @OptionGroup(title: "Work") var running: RunOptions
    @OptionGroup(title: "Sources and cache") var source: SourceOptions
    @OptionGroup(title: "Messages") var report: ReportOptions

    func run() async throws { try await process([input], output: output) }
}
