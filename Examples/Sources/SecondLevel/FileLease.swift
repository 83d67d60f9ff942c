import Foundation
import Stages

extension DirectoryTier {
    func turn(
        _ name: String, patience: Duration, look: nonisolated(nonsending) () async throws -> Bool
    ) async throws -> FetchTurn {
        guard let lease = try? FileLease(folder.appending(path: "\(BLAKE2bDigest(of: name)).lease")) else {
            return .alone
        }
        let (ends, over) = (lease.ends, ContinuousClock.now + patience)
        while !lease.take() {
            guard lease.ends == ends, ContinuousClock.now < over else { return try await look() ? .found : .alone }
            try await Task.sleep(for: .milliseconds(20))
        }
        if try await look() { return .found }
        return lease.ends == ends ? .hold(lease) : .alone
    }
}

/// A lock on a file. It ends with its last reference, and when its process or machine dies. The file's length counts how
/// often it was given back, so that who waits can tell a holder that was done from one that died.
final class FileLease: LeaseHold {
    private let descriptor: Int32

    init(_ file: URL) throws {
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        descriptor = open(file.path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        if descriptor < 0 { throw CocoaError(.fileWriteUnknown) }
    }

    deinit { close(descriptor) }

    var ends: Int { Int(lseek(descriptor, 0, SEEK_END)) }
    func take() -> Bool { flock(descriptor, LOCK_EX | LOCK_NB) == 0 }
    func wait() { flock(descriptor, LOCK_EX) }

    func end(isStored: Bool) async {
        // A second call finds the lock given back, and only counts once more.
        _ = write(descriptor, "x", 1)
        flock(descriptor, LOCK_UN)
    }
}
