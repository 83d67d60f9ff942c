import Essentials
import HTTPTypes
import Pipeline
import PipelineHTTP

/// Asks the services that give out credentials, with limits of time and length.
struct CredentialRequests: Sendable {
    /// The most bytes of a response.
    static let byteLimit = 65_536

    let client: any TransferClient
    let clock: any LoadClock

    /// Sends a request, and reads its response.
    /// - Throws: `LoadError`, also if the limit is over or the response is too long.
    func send(_ request: TransferRequest, within limit: Duration) async throws -> (status: Int, body: [UInt8]) {
        let subject = redactedURL(request.url.absoluteString)
        var asked = request
        // The variables name the service, so it is asked wherever it is. A redirect would get its secrets.
        (asked.maximumRedirects, asked.addresses) = (0, .any)
        let late = LoadError(.timedOut, subject: subject, "The service for credentials didn't respond in time.")
        return try await clock.run(within: limit, orThrow: late) { [client, asked] in
            let response = try await client.send(asked)
            var body: [UInt8] = []
            for try await chunk in response.body {
                body += chunk
                guard body.count <= Self.byteLimit else {
                    throw LoadError(.tooManyBytes, subject: subject, "The response with credentials is too long.")
                }
            }
            return (response.status, body)
        }
    }
}

extension LoadClock {
    /// Runs work, which is cancelled once a limit of time is over.
    /// - Throws: The errors of the work; `error` if the limit was over first.
    func run<Value: Sendable>(
        within limit: Duration, orThrow error: any Error, _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await withThrowingTaskGroup(of: Value.self) { group in
            group.addTask { try await work() }
            group.addTask {
                try await sleep(untilLimit: limit)
                throw error
            }
            defer { group.cancelAll() }
            guard let value = try await group.next() else { throw error }
            return value
        }
    }
}
