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
            """,
        version: version,
        subcommands: [
            LoadCommand.self, ThumbCommand.self, ConvertCommand.self, RunCommand.self, BatchCommand.self,
            SrcsetCommand.self, InfoCommand.self, PrefetchCommand.self, CacheCommand.self, DoctorCommand.self,
            FetchCommand.self, PlanCommand.self,
        ])

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
                StandardError.write(message + "\n")
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
        var command = try parseAsRoot()
        if var command = command as? any AsyncParsableCommand {
            try await command.run()
        } else {
            try command.run()
        }
    }
}
