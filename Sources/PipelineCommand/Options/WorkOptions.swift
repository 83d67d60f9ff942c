import ArgumentParser
import Pipeline
import Stages

/// The options for results beyond their format and existing files.
struct ResultOptions: ParsableArguments {
    @Flag(help: "Write only results smaller than their sources.") var onlyIfSmaller = false

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
protocol WorkVerb: AsyncParsableCommand, Sendable {
    var operations: OperationOptions { get }
    var format: FormatOption { get }
    var encoding: EncodingOptions { get }
    var overwrite: OverwriteOptions { get }
    var results: ResultOptions { get }
    var running: RunOptions { get }
    var source: SourceOptions { get }
    var report: ReportOptions { get }
}

extension WorkVerb {
    /// A recipe that decodes, transforms and encodes.
    /// - Parameter standard: The size if none is given.
    func recipe(standard: Geometry? = nil) throws -> Recipe {
        var recipe = Recipe(source, budget: running.budget) { [encoding] in
            Encode($0, options: encoding.options($0), codecs: Formats.codecs)
        }
        (recipe.gamut, recipe.depth, recipe.gainMap) = (encoding.gamut, encoding.depth, encoding.gainMap)
        try operations.apply(to: &recipe, standard: standard)
        return recipe
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

    /// Makes an image of each input, and ends the verb.
    /// - Parameters:
    ///   - output: The value of `-o`; `nil` only in place.
    ///   - standard: The size if none is given.
    /// - Throws: `ValidationError` if two results would have the same path, or standard input would be read twice;
    ///   `ExitCode` 1 if a job failed; `CancellationError`.
    func process(
        _ inputs: [String], output: String?, inPlace: Bool = false, standard: Geometry? = nil
    ) async throws {
        let planner = try planner(output: output, inPlace: inPlace, inputs: inputs.count)
        try inputs.checkStandardInput()
        let jobs = try await planner.jobs(inputs, onCollision: results.onCollision)
        let recipe = try recipe(standard: standard)
        try encoding.check(jobs, report)
        let reporter = WorkReporter(report)
        try await run(recipe, reporter, inPlace: inPlace)
            .carryOut(jobs, in: planner.root, running, reporter, recipe.resources, planned: plannedSize(standard))
    }

    /// Makes the run of a recipe's jobs.
    func run(_ recipe: Recipe, _ reporter: WorkReporter, inPlace: Bool = false) -> WorkRun {
        WorkRun(
            render: { try await recipe.render($0, $1, $2, reporter) },
            plannedWarning: { source, target in
                try await recipe.plannedWarning(source, target) { recipe.warning($0, $1, target.format(of: $0)) }
            }, rule: inPlace ? .overwrite : overwrite.rule,
            onlyIfSmaller: results.onlyIfSmaller, stopsAtFailure: running.failFast, width: running.width,
            limits: recipe.resources.limits, report: { reporter.report($0) })
    }

    /// The sizes of results in a plan.
    /// - Parameter standard: The size if none is given.
    func plannedSize(_ standard: Geometry? = nil) -> WorkRun.Planning {
        { native, targets in targets.map { ($0, operations.plannedSize(of: native, standard: standard)) } }
    }
}

extension [String] {
    /// Refuses arguments that would read standard input twice.
    func checkStandardInput() throws {
        if filter({ $0 == "-" }).count > 1 { throw ValidationError("Standard input can be read once.") }
    }
}
