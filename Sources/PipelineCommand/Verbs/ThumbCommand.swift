import ArgumentParser

/// Makes thumbnails.
struct ThumbCommand: WorkVerb {
    static let configuration = CommandConfiguration(
        "thumb", "Make thumbnails.",
        """
        A source is a file, a URL, or - for standard input. Without -o the result is written next to its source, \
        as {dir}/{name}-{w}x{h}.{ext}. -s 400x300 fits the image inside that box; without -s the box is 300x300, and \
        nothing is enlarged. Quote sizes that contain <, > or !.

        Examples:
          \(Program.name) thumb photo.jpg -s 400x300
          \(Program.name) thumb *.jpg -s '640x640>' -o 'small/{name}.webp'
          \(Program.name) thumb portrait.jpg -s 200x200 --crop north -o avatar.png
          \(Program.name) thumb https://example.com/photo.jpg -s 300 -o - > small.jpg
        """)

    @Argument(help: ArgumentHelp("Files, URLs, or - for standard input.", valueName: "in"), completion: .images)
    var inputs: [String]

    @OptionGroup(title: "Transforms") var operations: OperationOptions
    @OptionGroup(title: "Output") var destination: DestinationOptions
    @OptionGroup(title: "Output format") var format: FormatOption
    @OptionGroup(title: "Output format") var encoding: EncodingOptions
    @OptionGroup(title: "Output") var overwrite: OverwriteOptions
    @OptionGroup var results: ResultOptions
    @OptionGroup(title: "Work") var running: RunOptions
    @OptionGroup(title: "Sources and cache") var source: SourceOptions
    @OptionGroup(title: "Messages") var report: ReportOptions

    func run() async throws {
        let isPiped = inputs == ["-"] && destination.output == nil && !destination.inPlace
        try await process(
            inputs, output: destination.output ?? (isPiped ? "-" : "{dir}/{name}-{w}x{h}.{ext}"),
            inPlace: destination.inPlace, standard: Geometry(argument: "300x300>"))
    }
}
