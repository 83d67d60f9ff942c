import ArgumentParser
import FoundationEssentials
import Stages

/// The options that select entries of the cache, shared by its verbs.
struct CacheFilterOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Only older entries, such as 30d, 12h, 90m or 45s.", valueName: "age"))
    var olderThan: TimeArgument?

    @Flag(help: "Measure the age from the last use; the default.")
    var accessed = false

    @Flag(help: "Measure the age from storing or confirming.")
    var created = false

    func validate() throws {
        if accessed, created { throw ValidationError("--accessed and --created exclude each other; give one.") }
        if accessed || created, olderThan == nil {
            throw ValidationError(
                "--\(accessed ? "accessed" : "created") says how an age is measured; give --older-than.")
        }
    }

    /// The time from which an age is measured.
    func time(of entry: CacheEntry) -> Date { created ? entry.stored : entry.accessed }

    /// Entries from before this time are selected; `nil` selects all.
    func cutoff(now: Date) -> Date? { olderThan.map { now.addingTimeInterval(-$0.seconds) } }

    /// The entries that a clean-up removes; `nil` if no age was given.
    var stale: HTTPCache.Stale? {
        olderThan.map { created ? .stored(.seconds($0.seconds)) : .unused(.seconds($0.seconds)) }
    }
}
