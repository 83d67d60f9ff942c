import ArgumentParser
import Pipeline

/// How a batch remembers what it has done.
struct JournalOptions: ParsableArguments {
    @Flag(help: "Continue an earlier batch with the same output and options that was cut off.")
    var resume = false

    @Option(
        help: ArgumentHelp(
            "Keep the record of what is done here. (default: one for each output, in $XDG_STATE_HOME/pipectl)",
            valueName: "file"),
        completion: .file())
    var journal: String?

    /// Opens the journal of a batch; `nil`, with a warning, if it can't be written and nobody asked for it.
    /// - Parameters:
    ///   - output: what stands after `-o`.
    ///   - options: everything that changes what is made of a source.
    func open(output: String, shard: ShardArgument?, options: Digest) throws(LoadError) -> Journal? {
        let place = FileFacts.resolved(".").map { "\($0)\n" } ?? ""
        let identity = Digest(of: "\(place)\(output)\n\(shard.map { "\($0.number)/\($0.count)" } ?? "")")
        if journal == nil { JournalFolder.prune() }
        do throws(Journal.Failure) {
            return try Journal(journal ?? JournalFolder.journal(identity), options: options, resumes: resume)
        } catch {
            guard case .unusable(let reason) = error, !resume, journal == nil else { throw error.error }
            StandardError.warn("\(reason) --resume won't know what this batch has done.")
            return nil
        }
    }
}
