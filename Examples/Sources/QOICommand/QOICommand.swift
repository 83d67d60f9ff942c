import PipelineCommand
import PipelineFile
import QOI
import Stages

/// The stages that the command adds to the library's: `qoictl thumb a.qoi --ops duotone=#224466 -o b.png`.
let ownStages = StageCatalog([
    StageSpecification(
        "duotone", "Replaces greys by mixtures of a dark colour and white.",
        .required("dark", .color, "The colour of black pixels.", example: "#224466")
    ) { dark in Duotone(dark: dark) }
])

/// The command with QOI in addition to its standard formats: `qoictl thumb a.qoi -o b.png`.
@main
enum QOICommand {
    static func main() async {
        await Command.main(name: "qoictl", codecs: .standard.adding(.qoi), stages: ownStages)
    }
}
