import ArgumentParser
import PipelineFile
import Stages

/// Shows the help of a verb. It replaces ArgumentParser's own, which accepts any word and completes none.
struct HelpVerb: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "help",
        abstract: "Show the help of a verb, or describe stages.",
        discussion: """
            Examples:
              \(Program.name) help thumb
              \(Program.name) help cache prune
              \(Program.name) help stages
              \(Program.name) help stages crop
            """)

    @Argument(
        help: ArgumentHelp("The verb, in one or two words. Or stages, and the name of one.", valueName: "verb"),
        completion: .list(
            Pipectl.configuration.subcommands.compactMap { $0.configuration.commandName }.filter { $0 != "help" }
                + ["stages"]))
    var verb: [String] = []

    @Option(name: .customLong("as"), help: "How the stages are written: text, man or markdown.")
    var form = StageReference.Form.text

    func run() throws {
        // A word that isn't a verb was refused before.
        guard verb.first == "stages" else { throw CleanExit.helpRequest(Verb.named(by: verb).type) }
        let catalogue = StageCatalogue.all(.described, nil)
        guard verb.count < 3 else { throw ValidationError("help stages takes the name of one stage.") }
        do {
            let reference =
                try verb.count == 2 ? StageReference(verb[1], in: catalogue) : StageReference(catalogue)
            StandardOutput.write(reference.written(as: form, version: Pipectl.version, program: Program.name))
        } catch {
            throw ValidationError(error.message)
        }
    }
}

extension StageReference.Form: ExpressibleByArgument {}
