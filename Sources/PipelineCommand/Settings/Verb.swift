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

/// The help of a verb with a line for each option, as `-h` prints it; `--help` prints everything.
enum ShortHelp {
    /// The column where explanations begin here, and the one where ArgumentParser begins them.
    private static let (indent, parsedIndent) = (31, 26)

    static func of(_ verb: any ParsableCommand.Type, named name: String) -> String {
        // One line for each explanation, to cut it after its first sentence.
        let help = Pipectl.helpMessage(for: verb, columns: 100_000)
        var lines = [verb.configuration.abstract, ""]
        var label: String?
        var isInSections = false
        for line in help.split(separator: "\n", omittingEmptySubsequences: false) {
            let isHeading = line.hasSuffix(":") && line == line.uppercased()
            if line.hasPrefix("USAGE: ") { lines += ["Usage: \(usage(line.dropFirst(7), of: name))", ""] }
            isInSections = isInSections || isHeading
            guard isInSections else { continue }
            if line.isEmpty || isHeading {
                lines.append(line.isEmpty ? "" : line.prefix(1) + line.dropFirst().lowercased())
            } else if line.hasPrefix("   ") {
                // The explanation of a label that was too long for its line. Further lines are details.
                if let label { lines.append(element(label, line)) }
                label = nil
            } else if line.dropFirst(parsedIndent - 1).first == " " {
                lines.append(element(String(line.prefix(parsedIndent)), line.dropFirst(parsedIndent)))
            } else {
                label = String(line)
            }
        }
        lines.append("'\(name) --help' has all details and examples.")
        return lines.joined(separator: "\n")
    }

    /// The usage with one placeholder for all options.
    private static func usage(_ usage: Substring, of name: String) -> String {
        let words = usage.replacing(/\ \[[^\]]*\](\ \.\.\.)?/, with: "").dropFirst(name.count)
        return "\(name) [<options>]\(words)"
    }

    private static func element(_ label: String, _ explanation: Substring) -> String {
        let text = explanation.drop { $0 == " " }
        let end = text.firstRange(of: ". ")?.lowerBound ?? text.firstRange(of: " (default")?.lowerBound ?? text.endIndex
        let sentence = text[..<end]
        let name = String(label.reversed().drop { $0 == " " }.reversed())
        let padding = String(repeating: " ", count: max(2, indent - name.count))
        return name + padding + (sentence.hasSuffix(".") ? sentence.dropLast() : sentence)
    }
}
