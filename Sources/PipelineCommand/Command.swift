public import Stages

/// The command `pipectl` as a library, for a program that adds formats of its own:
///
/// ```swift
/// await Command.main(codecs: .standard.adding(.qoi))
/// ```
///
/// Every verb, `-f`, `--help`, completions and `doctor` then know the formats.
public enum Command {
    /// Runs the process's arguments as the command does, and ends the process with its status.
    /// - Parameter codecs: The formats that are read and written; by default `ImageCodecs.standard`.
    public static func main(codecs: ImageCodecs = .standard) async {
        Formats.codecs = codecs
        await Pipectl.main()
    }
}
