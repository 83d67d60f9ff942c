import ArgumentParser
import Pipeline

/// How a batch remembers what it has done.
struct JournalOptions: ParsableArguments {
    @Flag(help: "Continue an interrupted batch. Its output and options have to be the same.")
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
        let part = shard.map { "\($0.number)/\($0.count)" } ?? ""
        return try Journal.open(
            journal, output: output, part: part, options: options, resumes: resume, isNeeded: resume)
    }
}

extension Journal {
    /// Opens the journal at a path, or the one of an output; `nil`, with a warning, if it can't be written and isn't
    /// needed.
    /// - Parameters:
    ///   - part: which part of a list is worked on, where several processes share it.
    ///   - options: everything that changes what is made of a source.
    static func open(
        _ path: String?, output: String, part: String = "", options: Digest, resumes: Bool, isNeeded: Bool = false
    ) throws(LoadError) -> Journal? {
        let place = FileFacts.resolved(".").map { "\($0)\n" } ?? ""
        if path == nil { JournalFolder.prune() }
        do throws(Journal.Failure) {
            let standard = JournalFolder.journal(Digest(of: "\(place)\(output)\n\(part)"))
            return try Journal(path ?? standard, options: options, resumes: resumes)
        } catch {
            guard case .unusable(let reason) = error, !isNeeded, path == nil else { throw error.error }
            StandardError.warn("\(reason) The next run won't know what this one has done.")
            return nil
        }
    }
}
