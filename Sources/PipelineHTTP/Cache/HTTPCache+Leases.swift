package import Pipeline

/// The right to fetch a source on behalf of all processes that share a cache.
///
/// A load holds it until its response is stored. A load that ends earlier gives it back, and so does a process that
/// dies.
package final class SourceLease: Sendable {
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

    /// Lets waiting loads take the lease or use the stored response. A second call does nothing.
    package func giveBack() async {
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

extension HTTPCache {
    /// The result of a request for a lease.
    package enum LeaseOutcome {
        /// No other load fetches the source.
        case granted(SourceLease)
        /// Another load fetched it, in this process or another, and is done.
        case over
        /// This cache can't be used, or stores nothing, or too many fetches are in flight.
        case unavailable
    }

    /// Requests the lease of a source, and waits while another load holds it. A store that processes can't share has no
    /// leases.
    /// - Parameter patience: how long to wait for a holder that neither ends nor dies.
    /// - Throws: `CancellationError` at once when the task is cancelled.
    package func lease(_ key: SourceKey, headers: SIMD2<UInt64>, patience: Duration) async throws -> LeaseOutcome {
        try await sqlite?.lease(key, headers: headers, patience: patience) ?? .unavailable
    }
}

extension SQLiteResponseStore {
    fileprivate func lease(
        _ key: SourceKey, headers: SIMD2<UInt64>, patience: Duration
    ) async throws -> HTTPCache.LeaseOutcome {
        guard bounds.storedBytes > 0, let slot = leaseSlots.take() else { return .unavailable }
        let place = LeaseFile.Place(key, headers: headers)
        let tried = try await threads.run { [database] _ -> (file: LeaseFile, ends: UInt8, isTaken: Bool)? in
            // Makes the folder.
            guard database.read({ _ in true }) == true, let file = try? LeaseFile(database.folder, place, in: slot)
            else {
                return nil
            }
            let ends = file.ends
            return (file, ends, file.take())
        }
        guard let tried else { return .unavailable }
        if !tried.isTaken,
            case .over = try await leases.wait(for: tried.file, ends: tried.ends, patience: patience)
        {
            return .over
        }
        return .granted(SourceLease(tried.file, threads))
    }
}
