import ArgumentParser
import Pipeline
import Stages

/// The options for results beyond their format and existing files.
struct ResultOptions: ParsableArguments {
    @Flag(help: "Write only results smaller than their sources.")
    var onlyIfSmaller = false

    @Option(
        help: ArgumentHelp(
            "What to do with results of the same path. One of error (in batch the later one fails), keep-extension (a.heic.png; batch then reads the whole list first), or number (a-2.png, in the order of the list).",
            valueName: "rule"))
    var onCollision = CollisionRule.error
}

/// A verb that makes an image of each source.
///
/// It lists the groups of options itself. ArgumentParser checks each group in debug builds, five times for each group around
/// it, so that tests would take seconds to start one of these verbs if the groups were in one more.
protocol WorkVerb: AsyncParsableCommand {
    var format: FormatOption { get }
    var encoding: EncodingOptions { get }
    var overwrite: OverwriteOptions { get }
    var results: ResultOptions { get }
    var running: RunOptions { get }
    var source: SourceOptions { get }
    var report: ReportOptions { get }
}

extension WorkVerb {
    /// The options shared by all these verbs.
    var work: WorkOptions {
        WorkOptions(
            format: format, encoding: encoding, overwrite: overwrite, results: results, running: running,
            source: source, report: report)
    }
}

/// The options shared by all verbs that make an image of each source, except for where results go.
struct WorkOptions: Sendable {
    let format: FormatOption
    let encoding: EncodingOptions
    let overwrite: OverwriteOptions
    let results: ResultOptions
    let running: RunOptions
    let source: SourceOptions
    let report: ReportOptions

    /// A recipe that decodes and encodes.
    func recipe() -> Recipe {
        Recipe(source, budget: running.budget) { [encoding] in
            Encode($0, options: encoding.options($0), codecs: Formats.codecs)
        }
    }

    /// Plans where results go.
    /// - Parameters:
    ///   - output: The value of `-o`; `nil` only in place.
    ///   - asFolder: Whether a path without fields is a folder even if there is none yet.
    func planner(output: String?, inPlace: Bool = false, inputs: Int, asFolder: Bool = false) throws -> OutputPlanner {
        try report.check(writesResult: OutputPlanner.isStandardOutput(output))
        return try OutputPlanner(
            output: output, inPlace: inPlace, format: format.chosen?.format,
            standardFormat: encoding.defaults.format?.format, inputs: inputs, asFolder: asFolder)
    }
}
