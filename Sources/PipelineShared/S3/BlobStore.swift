import Essentials
import HTTPTypes
import Pipeline
import PipelineHTTP

/// Reads and writes the objects of an ``S3Blobs``, with a deadline and a breaker: a store that fails delays three loads
/// at most, and is then left alone for a while.
final class BlobStore: Sendable {
    private struct State {
        var breaker = Breaker()
        var isProbing = false
        /// Whether the store has refused the condition of a write.
        var ignoresConditions = false
    }

    let blobs: S3Blobs
    private let report: @Sendable (BlobState) -> Void
    private let state = Lock(State())

    /// - Parameter report: Receives changes of the store's state.
    init(_ blobs: S3Blobs, report: @escaping @Sendable (BlobState) -> Void) {
        self.blobs = blobs
        self.report = report
    }

    /// The most bytes of an object.
    var byteLimit: Int { blobs.bytes }

    /// Reads an object.
    /// - Returns: `nil` if it is missing or damaged, or the store can't be used.
    /// - Throws: `CancellationError` if the task is cancelled; nothing else.
    func bytes(of reference: BlobReference) async throws -> [UInt8]? {
        guard reference.count <= byteLimit else { return nil }
        let read = try await attempt { () -> BlobRead in
            let response = try await self.send(.get, reference.name)
            if response.status == 404 { return .missing }
            if response.status == 403 { throw try await self.refusal(response) }
            guard response.status == 200 else { throw BlobFailure.status(response.status) }
            var body: [UInt8] = []
            body.reserveCapacity(reference.count)
            for try await chunk in response.body {
                guard body.count + chunk.count <= reference.count else { return .damaged }
                body += chunk
            }
            let whole = body
            let isWhole = try await BlockingThreads.files.run { _ in BlobReference(to: whole) == reference }
            return isWhole ? .found(whole) : .damaged
        }
        switch read {
        case .found(let bytes): return bytes
        case .damaged:
            // Else the next write would find it there.
            _ = try await attempt {
                let status = try await self.status(of: try await self.send(.delete, reference.name))
                guard [200, 204, 404].contains(status) else { throw BlobFailure.status(status) }
            }
            return nil
        case .missing, nil: return nil
        }
    }

    private enum BlobRead { case found([UInt8]), missing, damaged }

    /// Why reading an object was refused. A store says `AccessDenied` for a missing object too if the keys may not list
    /// its bucket, so that doesn't open the breaker. Other codes are about the keys.
    private func refusal(_ response: TransferResponse) async throws -> BlobFailure {
        var body: [UInt8] = []
        for try await chunk in response.body {
            body += chunk
            if body.count > 65_536 { break }
        }
        let code = XMLText.errorCode(String(decoding: body, as: UTF8.self))
        return code == nil || code == "AccessDenied" ? .unreadable : .status(403)
    }

    /// Writes an object, unless it is there.
    /// - Returns: `nil` if the store can't be used, or the bytes are too many.
    func write(_ bytes: [UInt8]) async throws -> BlobReference? {
        guard bytes.count <= byteLimit else { return nil }
        return try await attempt {
            let reference = try await BlockingThreads.files.run { _ in BlobReference(to: bytes) }
            var status = try await self.put(bytes, reference, isConditional: !self.state.withLock(\.ignoresConditions))
            // Another write of the same bytes is under way; see whether it has succeeded.
            if status == 409 { status = try await self.put(bytes, reference, isConditional: true) }
            if status == 400 || status == 501 {
                self.state.withLock { $0.ignoresConditions = true }
                status = try await self.put(bytes, reference, isConditional: false)
            }
            guard 200..<300 ~= status || status == 412 else { throw BlobFailure.status(status) }
            return reference
        }
    }

    func put(_ bytes: [UInt8], _ reference: BlobReference, isConditional: Bool) async throws -> Int {
        try await status(
            of: try await send(.put, reference.name, bytes, isConditional ? [.ifNoneMatch: "*"] : [:], reference.name))
    }

    /// The status of a response, whose body is read so that its connection can be used again.
    func status(of response: TransferResponse) async throws -> Int {
        for try await _ in response.body {}
        return response.status
    }

    /// - Parameter payload: The SHA-256 of the body, if it is known.
    func send(
        _ method: HTTPRequest.Method, _ name: String, _ body: [UInt8]? = nil, _ headers: HTTPFields = [:],
        _ payload: String? = nil
    ) async throws -> TransferResponse {
        guard let url = blobs.bucket.url(of: name) else { throw BlobFailure.status(404) }
        // The address is the operator's choice, and a redirect would need another signature.
        let request = TransferRequest(
            method: method, url: url, headers: headers, body: body, maximumRedirects: 0, addresses: .any)
        return try await blobs.requests.send(request, payload: payload)
    }

    /// Runs a piece of work within the deadline, unless the store failed before.
    /// - Returns: `nil` if it failed.
    /// - Throws: `CancellationError` if the task is cancelled; nothing else.
    private func attempt<Value: Sendable>(_ work: @escaping @Sendable () async throws -> Value) async throws -> Value? {
        guard let isProbe = admit() else { return nil }
        do {
            let value = try await withDeadline(work)
            end(isProbe, nil)
            return value
        } catch {
            let isCancelled = Task.isCancelled
            end(isProbe, isCancelled ? .cancelled : BlobFailure(error))
            if isCancelled { throw CancellationError() }
            return nil
        }
    }

    func withDeadline<Value: Sendable>(
        _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await blobs.clock.run(within: blobs.deadline, orThrow: BlobFailure.timedOut, work)
    }

    /// Whether a request is the breaker's probe; `nil` if none may be sent.
    private func admit() -> Bool? {
        let now = blobs.clock.uptimeNanoseconds
        return state.withLock { state -> Bool? in
            guard state.breaker.isOpen else { return false }
            guard state.breaker.isHalfOpen(at: now), !state.isProbing else { return nil }
            state.isProbing = true
            return true
        }
    }

    private func end(_ isProbe: Bool, _ failure: BlobFailure?) {
        let now = blobs.clock.uptimeNanoseconds
        let change = state.withLock { state -> BlobState? in
            if isProbe { state.isProbing = false }
            switch failure {
            case nil: return state.breaker.succeed() ? .restored : nil
            case .cancelled: return nil
            case .unreadable: return .unreadable
            case .some(let failure):
                // Requests that were sent before the breaker opened don't prolong its pause.
                guard isProbe || !state.breaker.isOpen else { return nil }
                return state.breaker.fail(at: now, isFinal: false) ? .lost(failure) : nil
            }
        }
        if let change { report(change) }
    }
}

/// A change of the state of the store of large responses.
enum BlobState: Sendable {
    case lost(BlobFailure)
    case restored
    /// It refused to read an object, which may be missing.
    case unreadable
}

/// Why a request to the store of large responses failed.
enum BlobFailure: Error {
    case timedOut
    case cancelled
    /// It refused to read an object, which may be missing.
    case unreadable
    case status(Int)
    /// Another error, as text without credentials.
    case other(String)

    init(_ error: any Error) {
        self = (error as? BlobFailure) ?? .other((error as? LoadError)?.message ?? "the request failed")
    }
}

extension BlobFailure: CustomStringConvertible {
    var description: String {
        switch self {
        case .timedOut: "it didn't respond in time"
        case .cancelled: "the request was cancelled"
        case .unreadable: "it refuses to read objects (403)"
        case .status(let status) where status == 401 || status == 403: "it refuses these credentials (\(status))"
        case .status(let status): "it responded with \(status)"
        case .other(let text): text
        }
    }
}
