import Essentials
import HTTPTypes
import Pipeline
import PipelineTesting
import Stages
import TestFixtures

@testable import PipelineHTTP

/// An origin within the process: it decides a reply as a request arrives, and sends it when it may.
final class ScenarioOrigin: TransferClient {
    typealias Handler = @Sendable (TransferRequest) -> Scenario.Reply

    private struct State {
        var asked: [String] = []
        var arrivals: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
        /// Whether what was to ask has ended since the requests were last read.
        var isOver = false
        var gates: [Gate] = []
    }

    private let clock: ManualClock
    private let pictures: ScenarioPictures
    private let wire: ScenarioWire?
    private let handler: Handler
    private let state = Lock(State())

    init(
        clock: ManualClock, pictures: ScenarioPictures, wire: ScenarioWire? = nil, _ handler: @escaping Handler
    ) {
        self.wire = wire
        self.clock = clock
        self.pictures = pictures
        self.handler = handler
    }

    /// What was asked since this was last read.
    func takeAsked() -> [String] {
        state.withLock { state in
            defer { (state.asked, state.isOver) = ([], false) }
            return state.asked
        }
    }

    /// Waits until this many requests have arrived since ``takeAsked()`` was last read.
    func arrivals(_ count: Int) async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                let isThere = state.isOver || state.asked.count >= count
                if !isThere { state.arrivals.append((count, continuation)) }
                return isThere
            }
            if isThere { continuation.resume() }
        }
    }

    /// Ends every wait for arrivals: what was to ask has ended without.
    func stopWaiting() {
        let arrivals = state.withLock { state in
            defer { (state.arrivals, state.isOver) = ([], true) }
            return state.arrivals
        }
        for arrival in arrivals { arrival.continuation.resume() }
    }

    /// Lets the held replies go.
    func release() {
        let gates = state.withLock { state in
            defer { state.gates = [] }
            return state.gates
        }
        for gate in gates { gate.open() }
    }

    func send(_ request: TransferRequest) async throws -> TransferResponse {
        var request = request
        var redirects = 0
        while true {
            let response = try await answer(request)
            let origin = try CurlURL(request.url)
            guard redirects < request.maximumRedirects,
                let next = try TransferRedirect.next(
                    of: request, from: origin, status: response.status, response.headers)
            else { return response }
            redirects += 1
            request = next
        }
    }

    var urlRule: (@Sendable (URL) -> Bool)? { nil }

    func shutdown() async {}

    private func answer(_ request: TransferRequest) async throws -> TransferResponse {
        try request.check()
        let reply = handler(request)
        let gate = reply.isHeld ? Gate() : nil
        let arrived = state.withLock { state in
            state.asked.append(ScenarioFields.describe(request))
            if let gate { state.gates.append(gate) }
            let arrived = state.arrivals.filter { $0.count <= state.asked.count }
            state.arrivals.removeAll { $0.count <= state.asked.count }
            return arrived
        }
        for arrival in arrived { arrival.continuation.resume() }
        try await gate?.wait()
        if reply.delay > 0 { clock.advance(by: .seconds(reply.delay)) }
        if reply.isUnreachable {
            if let wire { return try await wire.send(request, answeredBy: .raw("")) }
            throw LoadError(.unreachable, subject: request.url.absoluteString, "The line is cut.")
        }
        var headers = ScenarioFields.parse(reply.fields)
        let body = reply.image.map { pictures.file($0) } ?? []
        if reply.image != nil { headers[.contentType] = "image/png" }
        if let wire {
            return try await wire.send(request, answeredBy: .init(status: reply.status, headers: headers, body: body))
        }
        return TransferResponse(
            status: reply.status, headers: headers, url: request.url, body: TransferBody(body))
    }
}
