import ArgumentParser
import Pipeline

/// How a batch remembers what it has done.
struct JournalOptions: ParsableArguments {
    @Flag(help: "Continue an interrupted batch. Its output and options have to be the same.")
    var resume = false

    @OptionGroup(title: "Resuming") var file: JournalFileOption

    /// Opens the journal of a batch; see ``JournalFileOption/open(output:part:options:resumes:isNeeded:)``.
    func open(output: String, shard: ShardArgument?, options: Digest) throws(LoadError) -> Journal? {
        let part = shard.map { "\($0.number)/\($0.count)" } ?? ""
        return try file.open(output: output, part: part, options: options, resumes: resume, isNeeded: resume)
    }
}

/// Where the record of what is done lies.
struct JournalFileOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Keep the record of what is done here. (default: one for each output, in $XDG_STATE_HOME/pipectl)",
            valueName: "file"),
        completion: .file())
    var journal: String?

    /// Opens the journal at the path, or the one of an output; `nil`, with a warning, if it can't be written and isn't
    /// needed.
    /// - Parameters:
    ///   - output: what stands after `-o`.
    ///   - part: which part of a list is worked on, where several processes share it.
    ///   - options: everything that changes what is made of a source.
    ///   - resumes: whether what was written before counts.
    ///   - isNeeded: whether a journal that can't be written is an error.
    func open(
        output: String, part: String = "", options: Digest, resumes: Bool, isNeeded: Bool = false
    ) throws(LoadError) -> Journal? {
        let place = FileFacts.resolved(".").map { "\($0)\n" } ?? ""
        if journal == nil { JournalFolder.prune() }
        do throws(Journal.Failure) {
            let standard = JournalFolder.journal(Digest(of: "\(place)\(output)\n\(part)"))
            return try Journal(journal ?? standard, options: options, resumes: resumes)
        } catch {
            guard case .unusable(let reason) = error, !isNeeded, journal == nil else { throw error.error }
            StandardError.warn("\(reason) The next run won't know what this one has done.")
            return nil
        }
    }
}
