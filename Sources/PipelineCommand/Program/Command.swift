public import PipelineFile
public import Stages

/// The command `pipectl` as a library, for a program that adds formats and stages of its own:
///
/// ```swift
/// await Command.main(name: "qoictl", codecs: .standard.adding(.qoi), stages: ownStages)
/// ```
///
/// Every verb, `-f`, `--ops`, `--pipeline`, `--help`, completions and `doctor` then know the formats and the stages, and
/// say the program's name.
public enum Command {
    /// Runs the process's arguments as the command does, and ends the process with its status.
    /// - Parameters:
    ///   - name: The program's name in messages, help, completions and man pages; by default `pipectl`. Settings are in
    ///     a folder of this name, `$XDG_CONFIG_HOME/qoictl/config.yaml`, and in variables that begin with it, such as
    ///     `QOICTL_QUALITY`.
    ///   - codecs: The formats that are read and written; by default `ImageCodecs.standard`.
    ///   - stages: Stages that join the library's; by default none. One with the name of a stage of the library replaces
    ///     it. `--ops` takes those that turn pixels into pixels, `--pipeline` takes all.
    public static func main(
        name: String = "pipectl", codecs: ImageCodecs = .standard, stages: StageCatalog = StageCatalog([])
    ) async {
        Program.name = name
        Program.stages = stages
        Formats.codecs = codecs
        await Pipectl.main()
    }
}
