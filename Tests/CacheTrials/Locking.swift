import Foundation

/// Takes the lock of a folder, says so, and stops: a process that was suspended while it held the lock.
enum Locking {
    static func run(folder: String) throws {
        let file = open(folder, O_RDONLY | O_DIRECTORY)
        guard file >= 0, flock(file, LOCK_EX) == 0 else { throw TrialFailure("can't lock \(folder)") }
        Child.tell("locked")
        raise(SIGSTOP)
    }
}
