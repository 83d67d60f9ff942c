import ArgumentParser
import Pipeline

/// Where results go, in verbs that take `-o` or write over their sources.
struct DestinationOptions: ParsableArguments {
    @Option(
        name: [.customShort("o", allowingJoined: true), .long],
        help: ArgumentHelp(
            "Write to a file, a folder or a pattern. - is standard output, and jpg:- too, as JPEG; a pattern has {name} {w} {h} {ext} {dir} {index} {format}.",
            valueName: "out"),
        completion: .file())
    var output: String?

    @Flag(help: "Write each result over its source.")
    var inPlace = false

    func validate() throws {
        if inPlace, output != nil { throw ValidationError("--in-place and -o exclude each other; give one.") }
    }
}
