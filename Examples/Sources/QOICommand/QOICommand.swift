import PipelineCommand
import QOI
import Stages

/// The command with QOI in addition to its standard formats: `qoictl thumb a.qoi -o b.png`.
@main
enum QOICommand {
    static func main() async { await Command.main(codecs: .standard.adding(.qoi)) }
}
