import ArgumentParser
import Glibc
import Stages

/// The command's entry: usage errors exit with 2, interruption with 130, everything else with the verb's own status.
@main
struct Pipectl: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pipectl",
        abstract: "Load, cache and convert images through a pipeline that one can read.",
        discussion: """
            Exit status: 0 all well, 1 something failed, 2 wrong usage, 130 interrupted.

            Defaults of options can be set in $XDG_CONFIG_HOME/pipectl/config.yaml, such as quality: 75, and by variables \
            such as PIPECTL_QUALITY. Flags count more than variables, variables more than the file.
            """,
        version: version,
        subcommands: [
            LoadCommand.self, ThumbCommand.self, ConvertCommand.self, RunCommand.self, BatchCommand.self,
            SrcsetCommand.self, InfoCommand.self, PrefetchCommand.self, CacheCommand.self, DoctorCommand.self,
            FetchCommand.self, PlanCommand.self,
        ])

    @Flag(help: "Print the defaults that are set, and where.")
    var printConfig = false

    func run() async throws {
        guard printConfig else { throw CleanExit.helpRequest(self) }
        print(try Settings())
    }

    static func main() async {
        do {
            let running = Task { try await runVerb() }
            let interruption = Interruption { running.cancel() }
            defer { withExtendedLifetime(interruption) {} }
            try await running.value
            end(0)
        } catch is CancellationError {
            end(130)
        } catch {
            let message = fullMessage(for: error)
            switch exitCode(for: error) {
            case .success:
                print(message)
                end(0)
            case .validationFailure:
                let remedy = Misspelling.remedy(Array(CommandLine.arguments.dropFirst()))
                StandardError.write((remedy.map { "\($0)\n" } ?? "") + message + "\n")
                end(2)
            case let code:
                if !message.isEmpty { StandardError.write(message + "\n") }
                end(code.rawValue)
            }
        }
    }

    /// Ends the program without the libraries' own endings: libcurl's thread may still be at its own, and the one would
    /// pull OpenSSL from under the other.
    private static func end(_ status: Int32) -> Never {
        fflush(nil)
        _exit(status)
    }

    private static func runVerb() async throws {
        let arguments = Array(CommandLine.arguments.dropFirst())
        // Wherever it stands it asks for the same.
        if arguments.prefix(while: { $0 != "--" }).contains("--print-config") { return print(try Settings()) }
        var command = try parseAsRoot(try Settings().applied(to: arguments))
        if var command = command as? any AsyncParsableCommand {
            try await command.run()
        } else {
            try command.run()
        }
    }
}
