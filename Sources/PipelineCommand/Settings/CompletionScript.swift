/// The completion script of a shell, with one `help` in it.
///
/// ArgumentParser lists a `help` of its own next to ``HelpVerb``, which completes nothing.
enum CompletionScript {
    static func withOneHelp(_ script: String) -> String {
        var isFirst = true
        return script.split(separator: "\n", omittingEmptySubsequences: false)
            .filter { !$0.contains("Show subcommand help information.") }
            .map { line in
                guard line == "_\(Program.identifier)_help() {" else { return String(line) }
                defer { isFirst = false }
                // The later function would replace the one that completes.
                return isFirst ? String(line) : "_\(Program.identifier)_other_help() {"
            }
            .joined(separator: "\n")
    }
}
