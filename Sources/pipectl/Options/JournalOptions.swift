import ArgumentParser
import Glibc
import Pipeline
import Stages

/// How a batch remembers what it has done.
struct JournalOptions: ParsableArguments {
    @Flag(help: "Go on where an earlier batch with the same output and options was cut off.")
    var resume = false

    @Option(
        help: ArgumentHelp(
            "Keep the record of what is done here. (default: one for each output, in $XDG_STATE_HOME/pipectl)",
            valueName: "file"))
    var journal: String?

    /// Opens the journal of a batch.
    /// - Parameters:
    ///   - output: what stands after `-o`.
    ///   - options: everything that changes what is made of a source.
    func open(output: String, shard: ShardArgument?, options: Digest) throws(LoadError) -> Journal {
        let place = FileFacts.resolved(".").map { "\($0)\n" } ?? ""
        let identity = Digest(of: "\(place)\(output)\n\(shard.map { "\($0.number)/\($0.count)" } ?? "")")
        return try Journal(journal ?? Journal.standardPath(identity), options: options, resumes: resume)
    }
}
