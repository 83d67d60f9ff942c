import ArgumentParser
import Pipeline

/// Where results go, in verbs that take `-o` or write over their sources.
struct DestinationOptions: ParsableArguments {
    @Option(
        name: .letter("o"),
        help: ArgumentHelp(
            "Write to a file, a folder or a pattern. - is standard output, and jpg:- too, as JPEG; a pattern has {name} {w} {h} {ext} {dir} {index} {format}.",
            valueName: "out"), completion: .file())
    var output: String?

    @Flag(help: "Write each result over its source.") var inPlace = false

    func validate() throws {
        if inPlace, output != nil { throw ValidationError("--in-place and -o exclude each other; give one.") }
    }
}

/// The options for files that exist already, shared by all verbs that write.
struct OverwriteOptions: ParsableArguments {
    /// What may be done to a file that exists.
    enum Rule: Sendable { case refuse, skip, overwrite, ifNewer }

    @Flag(name: [.customShort("n"), .long], help: "Skip files that exist, without an error.") var noClobber = false

    @Flag(name: [.customShort("y"), .long], help: "Overwrite files that exist. (default: they are an error)")
    var overwrite = false

    @Flag(help: "Overwrite only files older than their source.") var newer = false

    func validate() throws {
        if [noClobber, overwrite, newer].filter(\.self).count > 1 {
            throw ValidationError("-n, -y and --newer exclude each other; give one.")
        }
    }

    var rule: Rule { noClobber ? .skip : overwrite ? .overwrite : newer ? .ifNewer : .refuse }
}
