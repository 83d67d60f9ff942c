import Glibc
import Pipeline

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
