import ArgumentParser
import LibC
import Pipeline

/// The options for messages, shared by all verbs.
struct ReportOptions: ParsableArguments {
    enum Color: String, ExpressibleByArgument, CaseIterable { case auto, always, never }

    @Flag(
        help:
            "Print a JSON object on a line for each result. For a name that isn't UTF-8, inputBytes and outputBytes have its bytes in base64."
    )
    var json = false

    @Flag(name: [.customShort("q"), .long], help: "Print nothing but errors.") var quiet = false

    @Flag(name: [.customShort("v"), .long], help: "Show each stage on standard error.") var verbose = false

    @Option(
        help: "Colour errors: auto, always or never. NO_COLOR in the environment means never, unless always is given.")
    var color = Color.auto

    func validate() throws {
        if quiet, verbose { throw ValidationError("-q and -v exclude each other; give one.") }
    }

    /// Checks that standard output doesn't get a result among the objects of `--json`.
    func check(writesResult: Bool) throws {
        if writesResult, json { throw ValidationError("--json and -o - would both write to standard output.") }
    }

    /// Whether errors are coloured.
    var isColored: Bool {
        switch color {
        case .always: true
        case .never: false
        case .auto: StandardError.isTerminal && !Environment.isSet("NO_COLOR") && Environment["TERM"] != "dumb"
        }
    }

    /// Prints a warning: something is wrong, but the work continues.
    func warn(_ text: some CustomStringConvertible) {
        if !quiet { StandardError.warn(text) }
    }

    /// Does work whose error is printed, and ends the verb.
    func ending(_ work: () async throws -> Void) async throws {
        do { try await work() } catch let error as LoadError {
            show(error)
            throw ExitCode(1)
        }
    }

    /// Prints an error; the stage that failed only with `-v`.
    func show(_ error: LoadError) { show(error.text(namesStage: verbose)) }

    /// Prints an error.
    func show(_ error: String) {
        let name = isColored ? "\u{1B}[1;31m\(Program.name):\u{1B}[0m" : "\(Program.name):"
        StandardError.write("\(name) \(error)\n")
    }

    /// Reports a folder that can't be written to once, instead of once for each result.
    func checkRoot(_ root: String?, _ jobs: [Job]) throws {
        // In JSON each result has its own object with the error.
        guard !json, let root, !jobs.isEmpty, let obstacle = FileFacts.obstacle(toWritingIn: root) else { return }
        show(FileFacts.unwritable(root, obstacle))
        throw ExitCode(1)
    }
}
