import ArgumentParser

/// Makes thumbnails.
struct ThumbCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "thumb",
        abstract: "Make thumbnails.",
        discussion: """
            A source is a file, a URL, or - for standard input. Without -o the result lies beside its source, as \
            {dir}/{name}-{w}x{h}.{ext}. -s 400x300 is the box that it fits; quote the marks: '400x300>'.

            Examples:
              pipectl thumb photo.jpg -s 400x300
              pipectl thumb *.jpg -s '640x640>' -o 'small/{name}.webp'
              pipectl thumb portrait.jpg -s 200x200 --crop north -o avatar.png
              pipectl thumb https://example.com/photo.jpg -s 300 -o - > small.png
            """)

    @Argument(help: ArgumentHelp("Files, URLs, or - for standard input.", valueName: "in"))
    var inputs: [String]

    @OptionGroup var operations: OperationOptions
    @OptionGroup var work: WorkOptions

    func run() async throws {
        let isPiped = inputs == ["-"] && work.output == nil && !work.inPlace
        let planner = try work.planner(
            standard: isPiped ? "-" : "{dir}/{name}-{w}x{h}.{ext}", inputs: inputs.count)
        let jobs = try work.jobs(inputs, planner)
        var recipe = work.recipe()
        try operations.apply(to: &recipe, standard: Geometry(argument: "300x300>"))
        try await work.run(jobs, recipe)
    }
}
