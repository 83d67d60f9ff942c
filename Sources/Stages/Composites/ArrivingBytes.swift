public import Pipeline

/// Decodes previews of a body for ``Preview`` while a fetcher reads it: one at a time, and none after the body has
/// ended.
///
/// A fetcher that reads in pieces passes on the bytes so far:
///
/// ```swift
/// load.attachment(ArrivingBytes.self)?.show(bytes, of: load)
/// ```
public final class ArrivingBytes: LoadAttachment {
    private struct State {
        /// The number of bytes that the next preview waits for.
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

    /// Reports a preview of the bytes so far, unless another one is being decoded or too few bytes are new.
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
            // Bytes that can't be decoded yet may decode once more have arrived.
            let image = try? await self.decode(bytes, load.priority)
            if let image, !self.isOver { load.report(.preview(image)) }
            self.state.withLock { state in
                state.isRunning = false
                state.running = nil
            }
        }
        // The task may have ended already. ``end()`` can't run in between, since the load that calls this calls it.
        state.withLock { if $0.isRunning { $0.running = running } }
    }

    private var isOver: Bool { state.withLock { $0.isOver } }

    /// Cancels the preview that is being decoded. None is reported after this returns.
    func end() async {
        let running = state.withLock { state in
            state.isOver = true
            return state.running
        }
        running?.cancel()
        await running?.value
    }
}
