import Pipeline

/// Leases for all processes and machines that reach a folder: locks on a file in it.
///
/// ```swift
/// let tier = HTTPCache(store: store, leases: FileLeases(folder: "/mnt/images"), isShared: true)
/// ```
///
/// The file is called `leases`. Its file system has to lock ranges of open files (`F_OFD_SETLK`), as local ones and NFS 4
/// do. Waiters of the same machine learn at once that a lease has ended, those of others within a second.
public final class FileLeases: FetchLeases {
    private let path: String
    private let slots = LeaseSlots()
    private let queue: LeaseQueue
    private let threads: BlockingThreads
    private let isReady: @Sendable () -> Bool

    /// Describes leases in a folder that exists; nothing is opened yet. Where the file can't be opened, loads fetch without
    /// leases.
    public convenience init(folder: String) {
        self.init(path: folder + "/leases", BlockingThreads(name: "pipeline-leases", count: 2)) { true }
    }

    /// Describes leases in a file.
    /// - Parameter isReady: Says, on one of the threads, whether the file may be made.
    init(path: String, _ threads: BlockingThreads, isReady: @escaping @Sendable () -> Bool) {
        (self.path, self.threads, self.isReady) = (path, threads, isReady)
        queue = LeaseQueue(path)
    }

    /// The number of waiters.
    var waiting: Int { queue.count }

    /// Takes the place of one more open lease; `nil` if none is left.
    func takeSlot() -> LeaseSlot? { slots.take() }

    public func turn(
        _ name: String, patience: Duration, look: nonisolated(nonsending) () async throws -> Bool
    ) async throws -> FetchTurn {
        guard let slot = slots.take() else { return .alone }
        let place = LeaseFile.Place(name)
        let tried = try await threads.run { [path, isReady] _ -> (file: LeaseFile, ends: UInt8, isTaken: Bool)? in
            guard isReady(), let file = try? LeaseFile(path, place, in: slot) else { return nil }
            let ends = file.ends
            return (file, ends, file.take())
        }
        guard let tried else { return .alone }
        if !tried.isTaken, case .over = try await queue.wait(for: tried.file, ends: tried.ends, patience: patience) {
            return try await look() ? .found : .alone
        }
        let hold = FileHold(tried.file, threads)
        do {
            guard try await look() else { return .hold(hold) }
        } catch {
            // Others need not wait until the last reference is gone.
            await hold.end(isStored: false)
            throw error
        }
        await hold.end(isStored: true)
        return .found
    }
}

/// A held lease of a folder. A process that dies gives it back.
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
