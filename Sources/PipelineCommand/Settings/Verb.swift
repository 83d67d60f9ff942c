import ArgumentParser
import Pipeline
import PipelineFile

/// The verb that a command line names.
enum Verb {
    /// The verb as far as the line's first words go.
    /// - Returns: The verb and the number of words that name it.
    static func named(by arguments: [String]) -> (type: any ParsableCommand.Type, words: Int) {
        var verb: any ParsableCommand.Type = Pipectl.self
        var words = 0
        while words < arguments.count, let next = verb.subcommand(arguments[words]) {
            verb = next
            words += 1
        }
        return (verb, words)
    }

    /// Refuses an unknown word at the place of a verb, also after `help`.
    /// - Throws: `ValidationError` with the nearest verb.
    static func check(_ arguments: [String]) throws {
        let words = Array((arguments.first == "help" ? arguments.dropFirst() : arguments[...]))
        if arguments.first == "help", words.first == "stages" { return }
        let (verb, count) = named(by: words)
        let names = verb.configuration.subcommands.compactMap { $0.configuration.commandName }
        guard count < words.count, !words[count].hasPrefix("-"), !names.isEmpty, words[count] != "help" else { return }
        let remedy =
            NearestName.of(words[count], among: names).map { "Did you mean '\($0)'?" }
            ?? "There are \(names.joined(separator: ", "))."
        throw ValidationError(
            "There is no verb \(printable((words[..<count] + [words[count]]).joined(separator: " "))). \(remedy)")
    }
}

extension ParsableCommand {
    /// The subcommand with a name.
    static func subcommand(_ name: String) -> (any ParsableCommand.Type)? {
        configuration.subcommands.first { $0.configuration.commandName == name }
    }
}
