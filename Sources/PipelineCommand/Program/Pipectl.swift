import ArgumentParser
import LibC
import Logging
import Pipeline
import SourceVersion
import Stages

/// The command's entry: usage errors exit with 2, a signal with 128 and its number, everything else with the verb's own
/// status.
struct Pipectl: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: Program.name,
        abstract: "Load, cache and convert images through a readable pipeline.",
        discussion: """
            Exit status: 0 all well, 1 something failed, 2 wrong usage, 130 interrupted, 143 terminated.

            Set defaults in $XDG_CONFIG_HOME/\(Program.name)/config.yaml (quality: 75) or in variables \
            (\(Program.variablePrefix)QUALITY=75). Flags override variables, which override the file. The extension of an output overrides a \
            format that is set there.
            """,
        version: SourceVersion.text,
        groupedSubcommands: [
            CommandGroup(
                name: "Image",
                subcommands: [
                    ThumbCommand.self, ConvertCommand.self, BatchCommand.self, WatchCommand.self, SrcsetCommand.self,
                    RunCommand.self, StripCommand.self, MontageCommand.self, InfoCommand.self, CompareCommand.self,
                    ViewCommand.self,
                ]),
            CommandGroup(
                name: "Network and cache",
                subcommands: [LoadCommand.self, PrefetchCommand.self, FetchCommand.self, CacheCommand.self]),
            CommandGroup(name: "Other", subcommands: [PlanCommand.self, DoctorCommand.self, HelpVerb.self]),
        ])

    @Flag(help: "Print the defaults that are set, and where.") var printConfig = false

    func run() async throws {
        guard printConfig else { throw CleanExit.helpRequest(self) }
        StandardOutput.write(try Settings())
    }

    static func main() async {
        StandardStream.openMissing()
        let arguments: [String]
        do { arguments = try Arguments.all() } catch {
            StandardError.write("\(Program.name): \(error)\n")
            end(1)
        }
        LoggingSystem.bootstrap { _ in WarningLog(isQuiet: arguments.contains("-q") || arguments.contains("--quiet")) }
        do {
            let running = Task { try await runVerb(arguments) }
            let interruption = Interruption { running.cancel() }
            defer { withExtendedLifetime(interruption) {} }
            try await running.value
            end(0)
        } catch is CancellationError {
            end(Interruption.status ?? 130)
        } catch {
            let message = fullMessage(for: error)
            switch exitCode(for: error) {
            case .success:
                StandardOutput.write(asked(message, arguments))
                end(0)
            case .validationFailure:
                StandardError.write(usageMessage(for: error, message, arguments) + "\n")
                end(2)
            case let code:
                if !message.isEmpty { StandardError.write(message + "\n") }
                end(Interruption.status ?? code.rawValue)
            }
        }
    }

    /// The help, version or script that a command line asks for.
    private static func asked(_ message: String, _ arguments: [String]) -> String {
        if arguments.contains(where: { $0.hasPrefix("--generate-completion-script") }) {
            return CompletionScript.completed(message)
        }
        guard arguments.contains("-h"), !arguments.contains("--help"), !arguments.contains("--version") else {
            return message
        }
        let (verb, words) = Verb.named(by: arguments)
        return ShortHelp.of(verb, named: ([Program.name] + arguments[..<words]).joined(separator: " "))
    }

    /// An error of usage with the usage of the verb that it is about.
    private static func usageMessage(for error: any Error, _ message: String, _ arguments: [String]) -> String {
        let (verb, words) = Verb.named(by: arguments)
        var text = message
        // Errors that are found while a verb plans don't know the verb.
        if let error = error as? ValidationError, words > 0 {
            let name = ([Program.name] + arguments[..<words]).joined(separator: " ")
            text =
                "Error: \(error.message)\nUsage: \(usageString(for: verb))\n  See '\(name) --help' for more information."
        }
        let file = arguments.prefix { $0 != "--" }.first { $0.hasPrefix("-") && $0 != "-" && FileFacts($0) != nil }
        if let file {
            text +=
                "\n\(printable(file)) looks like an option; for the file write \(printable("./" + file)), or -- before it."
        }
        return (try? Settings())?.explained(text, for: verb) ?? text
    }

    /// Ends the program without the libraries' exit handlers. A thread of libcurl may still run, and OpenSSL's handler
    /// would free what it uses.
    private static func end(_ status: Int32) -> Never {
        fflush(nil)
        if let failure = StandardOutput.close() {
            StandardError.write("\(Program.name): \(CommandWords.text(of: failure))\n")
            _exit(status == 0 ? 1 : status)
        }
        _exit(status)
    }

    private static func runVerb(_ arguments: [String]) async throws {
        let words = arguments.prefix { $0 != "--" }
        // The flag has the same effect at any position.
        if words.contains("--print-config") { return StandardOutput.write(try Settings()) }
        try Verb.check(arguments)
        let settled = try settled(arguments)
        Formats.codecs = DecodingProcesses.confine(
            Formats.codecs, choice: IsolationOptions.choice(in: settled.prefix { $0 != "--" }))
        var command = try parseAsRoot(settled)
        if var command = command as? any AsyncParsableCommand {
            try await command.run()
        } else {
            try command.run()
        }
    }

    /// The command line with the user's settings in it. Help and version need none, and the doctor reports mistakes in
    /// them itself.
    private static func settled(_ arguments: [String]) throws -> [String] {
        let asks = ["-h", "--help", "--help-hidden", "--version", "--generate-completion-script"]
        let words = arguments.prefix { $0 != "--" }
        guard arguments.first != "help", !words.contains(where: { asks.contains($0) }),
            !words.contains(where: { $0.hasPrefix("--experimental-") || $0.hasPrefix("--generate-completion-script=") })
        else { return arguments }
        if !words.contains("-q"), !words.contains("--quiet") { Setting.warnOfUnknownVariables() }
        guard Verb.named(by: arguments).type == DoctorCommand.self else {
            return try Settings().applied(to: arguments)
        }
        let settled = (try? Settings())?.applied(to: arguments) ?? arguments
        return (try? parseAsRoot(settled)) == nil ? arguments : settled
    }
}
