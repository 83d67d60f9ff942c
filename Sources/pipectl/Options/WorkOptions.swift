import ArgumentParser
import Pipeline
import Stages

/// All that verbs which write images have in common.
struct WorkOptions: ParsableArguments {
    @Option(
        name: [.short, .long],
        help: ArgumentHelp(
            "A file, a folder, - for standard output, or a pattern with {name} {w} {h} {ext} {dir} {index} {format}.",
            valueName: "out"))
    var output: String?

    @Flag(help: "Write each result over its source.")
    var inPlace = false

    @OptionGroup var encoding: EncodingOptions
    @OptionGroup var overwrite: OverwriteOptions
    @OptionGroup var running: RunOptions
    @OptionGroup var source: SourceOptions
    @OptionGroup var report: ReportOptions

    func validate() throws {
        if inPlace, output != nil { throw ValidationError("--in-place and -o exclude each other; give one.") }
        if output == "-", report.json {
            throw ValidationError("--json and -o - would both write to standard output.")
        }
    }

    /// What may be done to files that are there.
    var rule: OverwriteOptions.Rule { inPlace ? .overwrite : overwrite.rule }

    /// A recipe that decodes and encodes.
    func recipe() -> Recipe {
        let options = encoding.how.options
        return Recipe(
            encode: { Encode($0, options: options) }, resources: source.resources, policy: source.policy.cachePolicy,
            budget: running.budget)
    }

    /// Where results go.
    func planner(standard: String?, inputs: Int) throws -> OutputPlanner {
        try OutputPlanner(
            output: output ?? standard, inPlace: inPlace, format: encoding.format?.format, inputs: inputs)
    }
}
