import Pipeline

/// The leases of a cache's folder: locks on a file, which processes share.
extension SQLiteResponseStore: FetchLeases {
    func turn(
        _ name: String, patience: Duration, look: () async throws -> Bool
    ) async throws -> FetchTurn {
        guard bounds.storedBytes > 0, let slot = leaseSlots.take() else { return .alone }
        let place = LeaseFile.Place(name)
        let tried = try await threads.run { [database] _ -> (file: LeaseFile, ends: UInt8, isTaken: Bool)? in
            // Makes the folder.
            guard database.read({ _ in true }) == true, let file = try? LeaseFile(database.folder, place, in: slot)
            else {
                return nil
            }
            let ends = file.ends
            return (file, ends, file.take())
        }
        guard let tried else { return .alone }
        if !tried.isTaken, case .over = try await leases.wait(for: tried.file, ends: tried.ends, patience: patience) {
            return try await look() ? .found : .alone
        }
        let hold = FileHold(tried.file, threads)
        do {
            guard try await look() else { return .hold(hold) }
        } catch {
            // Other processes need not wait until the last reference is gone.
            await hold.end(isStored: false)
            throw error
        }
        await hold.end(isStored: true)
        return .found
    }
}

/// A held lease of a cache's folder. A process that dies gives it back.
private final class FileHold: LeaseHold {
    private let file: LeaseFile
    private let threads: BlockingThreads
    private let isHeld = Lock(true)

    init(_ file: LeaseFile, _ threads: BlockingThreads) {
        self.file = file
        self.threads = threads
    }

    deinit {
        guard isHeld.withLock(\.self) else { return }
        // Writing to a file may take long, and this may run on any thread.
        let (file, threads) = (file, threads)
        Task { try? await threads.run { _ in file.giveBack() } }
    }

    /// Lets waiting loads take the lease or use the stored response: which, they find out by looking.
    func end(isStored: Bool) async {
        let isHeld = isHeld.withLock { isHeld in
            defer { isHeld = false }
            return isHeld
        }
        guard isHeld else { return }
        let file = file
        // In a task of its own, since the load may be cancelled.
        await Task { [threads] in try? await threads.run { _ in file.giveBack() } }.value
    }
}
