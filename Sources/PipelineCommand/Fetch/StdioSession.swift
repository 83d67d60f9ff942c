import Essentials
import LibC
import Pipeline
import Stages

/// `pipectl fetch --stdio`: serves another program as a coprocess, with a line of JSON for each request and each
/// response.
final class StdioSession: Sendable {
    private let client: CachingClient
    private let output = OutputLines()
    /// The running requests by their ids; `nil` until the task is known.
    private let running = Lock<[Int: Task<Void, Never>?]>([:])

    init(_ client: CachingClient) { self.client = client }

    /// Serves until the input ends and all responses are written, or the task is cancelled.
    /// - Throws: `CancellationError` if the task is cancelled.
    func serve(_ lines: AsyncStream<InputLines.Line>) async throws {
        await output.write(StdioResponse.ready("\(Program.name) 0.1"))
        await withTaskCancellationHandler {
            for await line in lines {
                switch line {
                case .line(let bytes): if !bytes.allSatisfy({ $0 <= 0x20 }) { await take(bytes) }
                case .tooLong:
                    await output.write(
                        StdioResponse.failure(nil, "The line has more than \(InputLines.longest) bytes."))
                }
            }
            // The last line may have been taken while the others were being cancelled.
            if Task.isCancelled { cancelAll() }
            while let task = running.withLock({ $0.values.first }) { await task?.value }
            if Task.isCancelled { cancelAll() }
            await client.drain()
        } onCancel: {
            cancelAll()
        }
        try Task.checkCancellation()
    }

    private func take(_ bytes: [UInt8]) async {
        let request: StdioRequest
        do {
            request = try JSONDecoder().decode(StdioRequest.self, from: Data(bytes))
        } catch {
            let id = (try? JSONDecoder().decode(StdioID.self, from: Data(bytes)))?.id
            await output.write(
                StdioResponse.failure(id, "The line is not a request: an object with \"id\", a number, and a \"url\"."))
            return
        }
        if request.cancel == true {
            running.withLock { $0[request.id] }??.cancel()
        } else if !start(request) {
            await output.write(StdioResponse.failure(request.id, "The id \(request.id) is in use; give each its own."))
        }
    }

    /// Starts a request; false if one with the same id is under way.
    private func start(_ request: StdioRequest) -> Bool {
        let isNew = running.withLock { running in
            guard running[request.id] == nil else { return false }
            running[request.id] = .some(nil)
            return true
        }
        guard isNew else { return false }
        // Outside the lock, since starting a task calls an executor.
        let task = Task {
            let line = await respond(request)
            await output.write(line)
            _ = running.withLock { $0.removeValue(forKey: request.id) }
        }
        // The task may have ended already.
        running.withLock { if $0[request.id] != nil { $0[request.id] = task } }
        return true
    }

    private func respond(_ request: StdioRequest) async -> [UInt8] {
        do {
            return StdioResponse.line(id: request.id, try await client.send(try request.request()))
        } catch is CancellationError {
            return StdioResponse.failure(request.id, "cancelled")
        } catch {
            return StdioResponse.failure(request.id, CommandWords.text(of: error))
        }
    }

    private func cancelAll() {
        client.cancelBackground()
        for task in running.withLock({ $0.values.compactMap(\.self) }) { task.cancel() }
    }
}

/// Reads the lines of standard input as they come, on a thread that may block for ever.
enum InputLines {
    /// A line, or a mark for one that is too long to be kept.
    enum Line: Sendable { case line([UInt8]), tooLong }

    /// More than the largest body in base64.
    static let longest = 128 << 20

    /// Starts reading. The stream ends with the input, or when its reader is cancelled; the thread then stays where it
    /// is and ends with the program.
    static func read() -> AsyncStream<Line> {
        let (lines, continuation) = AsyncStream.makeStream(of: Line.self)
        let threads = BlockingThreads(name: "pipectl-input", count: 1)
        Task {
            _ = try? await threads.run { _ in pump(continuation) }
            continuation.finish()
        }
        return lines
    }

    private static func pump(_ continuation: AsyncStream<Line>.Continuation) {
        var rest: [UInt8] = []
        var isSkipping = false
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = LibC.read(STDIN_FILENO, &chunk, chunk.count)
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { break }
            var new = chunk[..<count]
            while let end = new.firstIndex(of: UInt8(ascii: "\n")) {
                rest += new[..<end]
                continuation.yield(isSkipping ? .tooLong : .line(rest))
                rest = []
                isSkipping = false
                new = new[(end + 1)...]
            }
            if !isSkipping { rest += new }
            if rest.count > longest {
                rest = []
                isSkipping = true
            }
        }
        if isSkipping { continuation.yield(.tooLong) } else if !rest.isEmpty { continuation.yield(.line(rest)) }
    }
}
