import ArgumentParser
import PipelineFile
import SourceVersion
import Stages

/// Shows the help of a verb. It replaces ArgumentParser's own, which accepts any word and completes none.
struct HelpVerb: ParsableCommand {
    static let configuration = CommandConfiguration(
        "help", "Show the help of a verb, or describe stages.",
        """
        Examples:
          \(Program.name) help thumb
          \(Program.name) help cache prune
          \(Program.name) help stages
          \(Program.name) help stages crop
        """)

    @Argument(
        help: ArgumentHelp("The verb, or stages.", valueName: "verb"),
        completion: .list(
            Pipectl.configuration.subcommands.compactMap { $0.configuration.commandName }.filter { $0 != "help" } + [
                "stages"
            ]))
    var verb: String?

    @Argument(
        help: ArgumentHelp("The second word of the verb, or a stage's name.", valueName: "name"),
        completion: .list(
            CacheCommand.configuration.subcommands.compactMap { $0.configuration.commandName }
                + StageCatalog.all(.described, nil).specifications.map(\.name)))
    var name: String?

    @Option(name: .customLong("as"), help: "How the stages are written: text, man or markdown.")
    var form = StageReference.Form.text

    func run() throws {
        // A word that isn't a verb was refused before.
        guard verb == "stages" else {
            throw CleanExit.helpRequest(Verb.named(by: [verb, name].compactMap(\.self)).type)
        }
        let catalog = StageCatalog.all(.described, nil)
        do {
            let reference =
                if let name { try StageReference(name, in: catalog) } else { StageReference(catalog) }
            StandardOutput.write(reference.written(as: form, version: SourceVersion.text, program: Program.name))
        } catch {
            throw ValidationError(error.message)
        }
    }
}

extension StageReference.Form: ExpressibleByArgument {}
