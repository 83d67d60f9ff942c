public import Pipeline

/// What ``Preview`` shows of a body while a fetcher reads it: one picture at a time, and none once it has ended.
///
/// A fetcher that reads in pieces gives it what has arrived:
///
/// ```swift
/// load.attachment(ArrivingBytes.self)?.show(bytes, of: load)
/// ```
public final class ArrivingBytes: LoadAttachment {
    private struct State {
        /// How much has to be there for the next picture.
        var next: Int
        var isRunning = false
        var running: Task<Void, Never>?
        var isOver = false
    }

    typealias Decoding = @Sendable ([UInt8], LoadPriority) async throws -> DecodedImage?

    private let step: Int
    private let decode: Decoding
    private let state: Lock<State>

    init(every step: Int, decode: @escaping Decoding) {
        self.step = step
        self.decode = decode
        state = Lock(State(next: step))
    }

    /// Shows a picture of what has arrived, unless the last one is still being made or little is new.
    public func show(_ bytes: [UInt8], of load: Load) {
        guard load.showsInterimImages else { return }
        let begins = state.withLock { state in
            guard bytes.count >= state.next, !state.isRunning, !state.isOver else { return false }
            state.next = bytes.count + max(step, bytes.count / 5)
            state.isRunning = true
            return true
        }
        guard begins else { return }
        let running = Task {
            // What can't be decoded yet may be when more is there.
            let image = try? await self.decode(bytes, load.priority)
            if let image, !self.isOver { load.report(.preview(image)) }
            self.state.withLock { state in
                state.isRunning = false
                state.running = nil
            }
        }
        // Over already, perhaps; ``end()`` is only called by the load that calls this.
        state.withLock { if $0.isRunning { $0.running = running } }
    }

    private var isOver: Bool { state.withLock { $0.isOver } }

    /// No picture is reported after this returns.
    func end() async {
        let running = state.withLock { state in
            state.isOver = true
            return state.running
        }
        running?.cancel()
        await running?.value
    }
}
