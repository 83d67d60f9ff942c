import ArgumentParser
import Pipeline
import Stages

/// The options shared by all verbs that write images, except for where results go.
struct WorkOptions: ParsableArguments {
    @OptionGroup(title: "Output format") var encoding: EncodingOptions
    @OptionGroup(title: "Output") var overwrite: OverwriteOptions
    @Flag(help: "Write only results smaller than their sources.")
    var onlyIfSmaller = false

    @Option(
        help: ArgumentHelp(
            "What to do with results of the same path. One of error (in batch the later one fails), keep-extension (a.heic.png; batch then reads the whole list first), or number (a-2.png, in the order of the list).",
            valueName: "rule"))
    var onCollision = CollisionRule.error

    @OptionGroup(title: "Work") var running: RunOptions
    @OptionGroup(title: "Sources and cache") var source: SourceOptions
    @OptionGroup(title: "Messages") var report: ReportOptions

    /// A recipe that decodes and encodes.
    func recipe() -> Recipe {
        let how = encoding.how
        return Recipe(source, budget: running.budget) { Encode($0, options: how.options($0), codecs: Formats.codecs) }
    }

    /// Plans where results go.
    /// - Parameters:
    ///   - output: The value of `-o`; `nil` only in place.
    ///   - asFolder: Whether a path without fields is a folder even if there is none yet.
    func planner(output: String?, inPlace: Bool = false, inputs: Int, asFolder: Bool = false) throws -> OutputPlanner {
        try report.check(writesResult: OutputPlanner.isStandardOutput(output))
        return try OutputPlanner(
            output: output, inPlace: inPlace, format: encoding.format?.format,
            standardFormat: encoding.how.defaults.format?.format, inputs: inputs, asFolder: asFolder)
    }
}
