import PipelineCommand
import QOI
import Stages

/// The command with QOI in addition to the formats that it has anyway: `qoictl thumb a.qoi -o b.png`.
@main
enum QOICommand {
    static func main() async { await Command.main(codecs: .standard.adding(.qoi)) }
}
