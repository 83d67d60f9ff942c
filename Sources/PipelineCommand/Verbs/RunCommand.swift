import ArgumentParser

/// Runs images through transforms, or through a pipeline from a file.
struct RunCommand: WorkVerb {
    static let configuration = CommandConfiguration(
        "run", "Run images through transforms or a pipeline.",
        """
        A file for --pipeline is a list of stages in YAML; \(Program.name) plan --pipeline FILE prints it back. If it has \
        no encode, the output's name decides the format. In --ops, commas separate the stages and colons their \
        values: resize=800:600:cover,sharpen=0.5. \(Program.name) help stages describes all stages.

        Examples:
          \(Program.name) run a.jpg --ops 'resize=800:600:fit=cover,sharpen=0.5' -o b.webp
          \(Program.name) run *.png --ops 'trim,pad=500:500:colour=#ffffff' -o 'out/{name}.jpg'
          \(Program.name) run photo.jpg --pipeline poster.yaml -o poster.jpg
          \(Program.name) run a.jpg --ops 'resize=800,composite=logo.png:southEast:scale=0.2' -o b.jpg
          \(Program.name) run scan.tif --ops 'rotate=90,greyscale' --in-place
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

    func validate() throws {
        if operations.ops == nil, operations.size == nil, operations.pipeline == nil {
            throw ValidationError("Give --ops, -s or --pipeline.")
        }
    }

    func run() async throws {
        try await process(inputs, output: destination.output, inPlace: destination.inPlace)
    }
}
