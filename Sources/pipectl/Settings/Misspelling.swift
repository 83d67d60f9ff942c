import ArgumentParser
import PipelineFile

/// The verb that was meant by one that there is not.
enum Misspelling {
    /// Such as `Did you mean 'thumb'?`; `nil` if the verbs of a command line are all right, or nothing is near.
    static func remedy(_ arguments: [String]) -> String? {
        var verb: any ParsableCommand.Type = Pipectl.self
        for argument in arguments {
            guard !argument.hasPrefix("-"), !verb.configuration.subcommands.isEmpty else { return nil }
            if let next = verb.subcommand(argument) {
                verb = next
                continue
            }
            let names = verb.configuration.subcommands.compactMap { $0.configuration.commandName }
            return NearestName.of(argument, among: names).map { "Did you mean '\($0)'?" }
        }
        return nil
    }
}
