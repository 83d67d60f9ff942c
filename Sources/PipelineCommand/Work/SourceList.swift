import Pipeline
import Stages

/// The sources of a batch. A thread of its own reads them while the first ones are worked on.
///
/// A row takes the bytes of its path and about 20 more, so a list may have millions.
final class SourceList: Sendable {
    /// A number of rows, so that no array of all of them grows.
    private struct Block {
        static let rows = 1024
        var text: [UInt8] = []
        /// Where the input and the folder of each row end in the text.
        var ends: [(input: Int, folder: Int)] = []
    }

    private struct State {
        var blocks: [Block] = []
        var count = 0
        /// How many rows are worked on here, and not in another shard.
        var total = 0
        var errors: [Int: LoadError] = [:]
        /// The numbers of the files on each device.
        var files: [UInt: Set<UInt>] = [:]
        var ending: Result<Void, any Error>?
    }

    private let state = Monitor(State())
    private let shard: ShardArgument?
    private let keepsFiles: Bool

    /// Makes an empty list.
    /// - Parameters:
    ///   - shard: The part that is worked on.
    ///   - keepsFiles: Whether ``contains(_:_:)`` will be called.
    init(shard: ShardArgument?, keepsFiles: Bool) {
        self.shard = shard
        self.keepsFiles = keepsFiles
    }

    /// How many rows are worked on here, as far as the list was read.
    var total: Int { state.withLock { $0.total } }

    /// The number of rows that were read.
    var count: Int { state.withLock { $0.count } }

    /// Whether all rows were read.
    var isComplete: Bool { state.withLock { $0.ending != nil } }

    /// Adds a row.
    /// - Returns: The number of rows.
    @discardableResult
    func add(_ source: BatchSource) -> Int {
        let isHere = shard?.contains(source.input) ?? true
        let file = keepsFiles ? Job(reading: source.input).file?.identity : nil
        return state.withLock(wake: .all) { state in
            if state.count % Block.rows == 0 {
                if let last = state.blocks.indices.last {
                    // Without the room to grow.
                    state.blocks[last].text = state.blocks[last].text.withUnsafeBytes { Array($0) }
                }
                state.blocks.append(Block())
            }
            let last = state.blocks.count - 1
            state.blocks[last].text += source.input.utf8
            let end = state.blocks[last].text.count
            if source.folder != "." { state.blocks[last].text += source.folder.utf8 }
            state.blocks[last].ends.append((end, state.blocks[last].text.count))
            if let error = source.error { state.errors[state.count] = error }
            if let file { state.files[file.device, default: []].insert(file.node) }
            if isHere { state.total += 1 }
            state.count += 1
            return state.count
        }
    }

    /// Ends the list.
    func end(_ result: Result<Void, any Error>) { state.withLock(wake: .all) { $0.ending = result } }

    /// A row that was read.
    subscript(row: Int) -> BatchSource { state.withLock { Self.source(row, $0) } }

    /// Waits for rows, and returns up to 64; none at the end.
    ///
    /// The first rows come together, so that a short list is known as a whole before any work.
    /// - Throws: The error that ended the list, after all rows; `CancellationError`.
    func next(after row: Int, _ cancellation: WorkCancellation) throws -> [BatchSource] {
        let most = 64
        var waits = 0
        while true {
            try cancellation.check()
            let rows = state.wait(milliseconds: 50) { state -> Result<[BatchSource], any Error>? in
                let isEnough = row > 0 ? state.count > row : state.count >= most
                // A list from a pipe may grow slowly.
                guard isEnough || state.ending != nil || waits >= 20 && state.count > row else { return nil }
                if case .failure(let error)? = state.ending, state.count == row { return .failure(error) }
                return .success((row..<min(state.count, row + most)).map { Self.source($0, state) })
            }
            if let rows { return try rows.get() }
            waits += 1
        }
    }

    /// Waits until all rows were read.
    func wait(_ cancellation: WorkCancellation) throws {
        while state.wait(milliseconds: 50, for: { $0.ending == nil ? nil : true }) == nil { try cancellation.check() }
    }

    /// Whether a file is one of the sources. Waits until all rows were read.
    func contains(_ file: FileFacts.Identity, _ cancellation: WorkCancellation) throws -> Bool {
        try wait(cancellation)
        return state.withLock { $0.files[file.device]?.contains(file.node) == true }
    }

    private static func source(_ row: Int, _ state: State) -> BatchSource {
        let (block, place) = (state.blocks[row / Block.rows], row % Block.rows)
        let start = place == 0 ? 0 : block.ends[place - 1].folder
        let (end, last) = block.ends[place]
        return BatchSource(
            input: String(decoding: block.text[start..<end], as: UTF8.self),
            folder: end == last ? "." : String(decoding: block.text[end..<last], as: UTF8.self),
            error: state.errors[row])
    }
}
