import ArgumentParser
import LibC
import Pipeline

/// The options for the journal of a batch, which records finished work.
struct JournalOptions: ParsableArguments {
    @Flag(help: "Continue an interrupted batch. Its output and options have to be the same.") var resume = false

    @OptionGroup(title: "Resuming") var file: JournalFileOption

    /// Opens the journal of a batch; see ``JournalFileOption/open(output:part:options:resumes:isNeeded:)``.
    func open(output: String, shard: ShardArgument?, options: BLAKE2bDigest) throws(LoadError) -> Journal? {
        let part = shard.map { "\($0.number)/\($0.count)" } ?? ""
        return try file.open(output: output, part: part, options: options, resumes: resume, isNeeded: resume)
    }
}

/// The option for the journal's file.
struct JournalFileOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Record finished work in this file. (default: one for each output, in $XDG_STATE_HOME/\(Program.name))",
            valueName: "file"),
        completion: .file())
    var journal: String?

    /// Opens the journal at the path, or the one of an output; `nil`, with a warning, if it can't be written and isn't
    /// needed.
    /// - Parameters:
    ///   - output: The value of `-o`.
    ///   - part: The part of the list that is worked on, if several processes share it.
    ///   - options: A digest of everything that affects the results.
    ///   - resumes: Whether results that were written before count as done.
    ///   - isNeeded: Whether a journal that can't be written is an error.
    func open(
        output: String, part: String = "", options: BLAKE2bDigest, resumes: Bool, isNeeded: Bool = false
    ) throws(LoadError) -> Journal? {
        let place = FileFacts.resolved(".").map { "\($0)\n" } ?? ""
        if journal == nil { JournalFolder.prune() }
        do throws(Journal.Failure) {
            let standard = JournalFolder.journal(BLAKE2bDigest(of: "\(place)\(output)\n\(part)"))
            guard let path = journal ?? standard else {
                let reason = "The journal of the batch has no place, since HOME isn't set; give --journal FILE."
                throw .unusable(LoadError(.unwritable, subject: "", reason))
            }
            return try Journal(path, options: options, resumes: resumes)
        } catch {
            guard case .unusable(let reason) = error, !isNeeded, journal == nil else { throw error.error }
            StandardError.warn("\(reason) The next run won't know what this one has done.")
            return nil
        }
    }
}

/// The folder of journals without a path of their own: `$XDG_STATE_HOME/pipectl` or `~/.local/state/pipectl`.
enum JournalFolder {
    /// How long an unused journal is kept.
    static let keptSeconds = 30 * 86_400

    /// `nil` without a home folder: in a shared folder another user could make it first.
    static var path: String? {
        func folder(_ variable: String) -> String? { Environment[variable].flatMap { $0.hasPrefix("/") ? $0 : nil } }
        let state = folder("XDG_STATE_HOME") ?? folder("HOME").map { $0 + "/.local/state" }
        return state.map { "\($0)/\(Program.name)" }
    }

    /// The journal of a batch.
    static func journal(_ identity: BLAKE2bDigest) -> String? { path.map { "\($0)/\(identity).journal" } }

    /// Removes the journals that no batch has used for a month.
    static func prune(now: Int = time(nil)) {
        guard let path else { return }
        for name in FolderListing.names(in: path) ?? [] {
            let parts = name.split(separator: ".", maxSplits: 1)
            guard parts.count == 2, parts[1] == "journal", BLAKE2bDigest(hex: String(parts[0])) != nil else { continue }
            let journal = "\(path)/\(name)"
            guard let facts = FileFacts(journal), facts.kind == .regular,
                now - Int(facts.modified / 1_000_000_000) > keptSeconds
            else { continue }
            let file = journal.withPath { open($0, O_RDWR | O_CLOEXEC) }
            guard file >= 0 else { continue }
            defer { close(file) }
            if flock(file, LOCK_EX | LOCK_NB) == 0 { TemporaryName.remove(journal) }
        }
    }
}
