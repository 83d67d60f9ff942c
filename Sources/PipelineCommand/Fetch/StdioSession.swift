import FoundationEssentials
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
