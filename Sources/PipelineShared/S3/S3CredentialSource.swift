import Essentials
import HTTPTypes
import Pipeline
public import PipelineHTTP

/// The credentials of this machine, wherever they are: the environment, a profile of the credentials file, or the
/// endpoint of its container, whose credentials expire and are fetched again before they do.
///
/// ```swift
/// let source = S3CredentialSource()
/// let client = SignedForS3(CurlClient(), at: endpoint) { try await source.current() }
/// ```
///
/// The endpoint is that of `AWS_CONTAINER_CREDENTIALS_RELATIVE_URI` or `AWS_CONTAINER_CREDENTIALS_FULL_URI`. It is sent
/// the token of `AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE`, which is read each time, or `AWS_CONTAINER_AUTHORIZATION_TOKEN`.
public final class S3CredentialSource: Sendable {
    /// How long before their end credentials are fetched again.
    static let margin = Duration.seconds(300)

    private struct State {
        var credentials: S3Credentials?
        var isReading = false
        var waiters: [ObjectIdentifier: Waiter<S3Credentials>] = [:]
    }

    private let environment: [String: String]
    private let client: any TransferClient
    private let clock: any LoadClock
    private let state = Lock(State())

    /// Describes a source; nothing is read yet.
    /// - Parameters:
    ///   - environment: The variables; those of the process by default.
    ///   - client: Asks a container's endpoint. It need not allow that address.
    ///   - clock: The clock by which credentials expire.
    public init(
        environment: [String: String]? = nil, client: any TransferClient = CurlClient(),
        clock: any LoadClock = SystemClock()
    ) {
        self.environment = environment ?? ProcessInfo.processInfo.environment
        self.client = client
        self.clock = clock
    }

    /// Returns credentials that are valid now. Callers that come while they are read share that. In the last five minutes
    /// of their life, new ones are fetched while these are still used.
    /// - Throws: `LoadError` with `refused` if there are none, or with the endpoint's failure; `CancellationError` at once
    ///   if the task is cancelled.
    public func current() async throws -> S3Credentials {
        let (waiter, now) = (Waiter<S3Credentials>(), clock.now)
        let (valid, starts) = state.withLock { state -> (S3Credentials?, Bool) in
            let rest = state.credentials.map { $0.expires?.timeIntervalSince(now) ?? .infinity } ?? 0
            if rest > Self.margin.seconds { return (state.credentials, false) }
            if rest <= 0 { state.waiters[ObjectIdentifier(waiter)] = waiter }
            defer { state.isReading = true }
            return (rest > 0 ? state.credentials : nil, !state.isReading)
        }
        if starts { Task { await renew() } }
        if let valid { return valid }
        return try await waiter.value {
            state.withLock { _ = $0.waiters.removeValue(forKey: ObjectIdentifier(waiter)) }
            waiter.resume(with: .failure(CancellationError()))
        }
    }

    private func renew() async {
        let result: Result<S3Credentials, any Error>
        do { result = .success(try await read()) } catch { result = .failure(error) }
        let waiters = state.withLock { state in
            state.isReading = false
            if case .success(let credentials) = result { state.credentials = credentials }
            defer { state.waiters = [:] }
            return Array(state.waiters.values)
        }
        for waiter in waiters { waiter.resume(with: result) }
    }

    private func read() async throws -> S3Credentials {
        let environment = environment
        do {
            return try await BlockingThreads.files.run { _ in try S3Credentials(environment: environment) }
        } catch let error as LoadError {
            guard let url = try Self.endpoint(in: environment) else { throw error }
            return try await ask(url)
        }
    }

    /// The URL of the container's endpoint; `nil` if no variable names one.
    private static func endpoint(in environment: [String: String]) throws -> URL? {
        if let path = environment["AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"] {
            return URL(string: "http://169.254.170.2\(path)")
        }
        guard let text = environment["AWS_CONTAINER_CREDENTIALS_FULL_URI"] else { return nil }
        let own = ["localhost", "127.0.0.1", "[::1]", "169.254.170.2", "169.254.170.23", "[fd00:ec2::23]"]
        guard let url = URL(string: text), let parts = URLComponents(string: text), let host = parts.encodedHost,
            parts.scheme == "https" || parts.scheme == "http" && own.contains(host.lowercased())
        else {
            throw LoadError(
                .refused, subject: redactedURL(text),
                "AWS_CONTAINER_CREDENTIALS_FULL_URI has to be an https URL, or an http URL of this machine.")
        }
        return url
    }

    private func ask(_ url: URL) async throws -> S3Credentials {
        func failure(_ why: String) -> LoadError {
            LoadError(.refused, subject: redactedURL(url.absoluteString), "The container's credentials \(why)")
        }
        // It has the credentials of the machine, so it is asked wherever it is, and follows no redirect.
        var request = TransferRequest(url: url, maximumRedirects: 0, addresses: .any)
        request.headers[.accept] = "application/json"
        if let path = environment["AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"] {
            let text = try await BlockingThreads.files.run { _ in try? String(contentsOfFile: path, encoding: .utf8) }
            guard let text else { throw failure("need the token of \(printable(path)), which can't be read.") }
            request.headers[.authorization] = String(text.filter { !$0.isNewline })
        } else if let token = environment["AWS_CONTAINER_AUTHORIZATION_TOKEN"] {
            request.headers[.authorization] = token
        }
        let response = try await client.send(request)
        guard response.status == 200 else {
            throw failure("can't be fetched: the endpoint responded with \(response.status).")
        }
        var body: [UInt8] = []
        for try await chunk in response.body {
            body += chunk
            guard body.count <= 65_536 else { break }
        }
        guard let credentials = S3Credentials(json: body) else { throw failure("are malformed.") }
        return credentials
    }
}

extension S3Credentials {
    /// Reads the response of a container's endpoint; `nil` if it isn't one.
    fileprivate init?(json: [UInt8]) {
        struct Reply: Decodable {
            let AccessKeyId: String
            let SecretAccessKey: String
            let Token: String?
            let Expiration: String?
        }
        guard let reply = try? JSONDecoder().decode(Reply.self, from: Data(json)) else { return nil }
        self.init(
            accessKey: reply.AccessKeyId, secretKey: reply.SecretAccessKey, sessionToken: reply.Token,
            expires: reply.Expiration.flatMap { try? Date($0, strategy: .iso8601) })
    }
}
