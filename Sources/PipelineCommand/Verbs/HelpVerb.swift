import ArgumentParser

/// Shows the help of a verb. It takes the place of ArgumentParser's own, which takes any word and completes none.
struct HelpVerb: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "help",
        abstract: "Show the help of a verb.",
        discussion: """
            Examples:
              pipectl help thumb
              pipectl help cache prune
            """)

    @Argument(
        help: ArgumentHelp("The verb, in one or two words.", valueName: "verb"),
        completion: .list(
            Pipectl.configuration.subcommands.compactMap { $0.configuration.commandName }.filter { $0 != "help" }))
    var verb: [String] = []

    func run() throws {
        // A word that is no verb was refused before.
        throw CleanExit.helpRequest(Verb.named(by: verb).type)
    }
}
