import Essentials
import Pipeline
public import PipelineHTTP

/// The credentials of this machine, wherever they are.
///
/// ```swift
/// let source = S3CredentialSource()
/// let client = SignedForS3(CurlClient(), at: endpoint, credentials: source)
/// ```
///
/// It looks where Amazon's SDKs do, in their order:
///
/// 1. `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and `AWS_SESSION_TOKEN`.
/// 2. The role of a profile, with `role_arn` and `source_profile` or `credential_source`. The profile is `AWS_PROFILE`, or
///    `default`, in `~/.aws/credentials` and `~/.aws/config`, or in the files of `AWS_SHARED_CREDENTIALS_FILE` and
///    `AWS_CONFIG_FILE`.
/// 3. Web identity: `AWS_WEB_IDENTITY_TOKEN_FILE`, `AWS_ROLE_ARN` and `AWS_ROLE_SESSION_NAME`, or these of the profile.
/// 4. The keys of the profile.
/// 5. The container: `AWS_CONTAINER_CREDENTIALS_RELATIVE_URI` or `AWS_CONTAINER_CREDENTIALS_FULL_URI`, with the token of
///    `AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE` or `AWS_CONTAINER_AUTHORIZATION_TOKEN`.
/// 6. The role of the EC2 instance, unless `AWS_EC2_METADATA_DISABLED` is `true`. `AWS_EC2_METADATA_SERVICE_ENDPOINT` names
///    another service. It is asked by version 2 alone, and has to respond in a second.
///
/// Roles are taken on at `AWS_ENDPOINT_URL_STS` or `AWS_ENDPOINT_URL`, or else at Amazon's service in the region of
/// `AWS_REGION`, `AWS_DEFAULT_REGION` or the profile. Single sign-on and `credential_process` aren't supported.
///
/// Credentials that expire are fetched again in the last five minutes of their life. Both files are looked at at most
/// once a second, and read again when one has changed. Credentials that a store refuses are read again too.
public final class S3CredentialSource: Sendable {
    /// How long before their end credentials are fetched again.
    static let margin = Duration.seconds(300)
    /// How long a failed attempt to do so isn't repeated while the old ones are valid.
    static let retryPause = Duration.seconds(10)
    /// How long the files aren't looked at again, and refused keys aren't read again.
    static let pause = Duration.seconds(1)
    /// How long refused credentials that were fetched aren't fetched again. A store may also refuse what they forbid.
    static let fetchPause = Duration.seconds(60)

    private struct State {
        var found: S3CredentialChain.Finding?
        var isReading = false
        var waiters: [ObjectIdentifier: Waiter<S3Credentials>] = [:]
        /// When reading last began.
        var readAt: Duration?
        /// When the files were last looked at.
        var lookedAt: Duration?
        /// When refused credentials were last read again.
        var refusedAt: Duration?

        /// Lets a waiter wait for what is read; returns whether reading has to begin.
        mutating func add(_ waiter: Waiter<S3Credentials>, at uptime: Duration) -> Bool {
            waiters[ObjectIdentifier(waiter)] = waiter
            guard !isReading else { return false }
            (isReading, readAt) = (true, uptime)
            return true
        }
    }

    /// What a caller does.
    private enum Step {
        case use(S3Credentials)
        case refresh(S3Credentials)
        case look(S3CredentialChain.Finding)
        case wait(starts: Bool)
    }

    private let environment: [String: String]?
    private let requests: CredentialRequests
    private let instance = InstanceCredentials()
    private let state = Lock(State())

    /// Describes a source; nothing is read yet.
    /// - Parameters:
    ///   - environment: The variables; `nil`, the default, for those that the process has when they are read.
    ///   - client: Asks the services that give out credentials. It need not allow their addresses.
    ///   - clock: The clock by which credentials expire.
    public init(
        environment: [String: String]? = nil, client: any TransferClient = CurlClient(),
        clock: any LoadClock = SystemClock()
    ) {
        self.environment = environment
        requests = CredentialRequests(client: client, clock: clock)
    }

    private var clock: any LoadClock { requests.clock }

    /// Returns credentials that are valid now. Callers that come while they are read share that. In the last five minutes
    /// of their life, new ones are fetched while these are still used.
    /// - Throws: `LoadError` with `refused` if there are none, or with the failure of what was asked for them;
    ///   `CancellationError` at once if the task is cancelled.
    public func current() async throws -> S3Credentials {
        let (waiter, now, uptime) = (Waiter<S3Credentials>(), clock.now, clock.uptime)
        let step = state.withLock { state -> Step in
            guard let found = state.found, case let rest = found.credentials.rest(at: now), rest > 0 else {
                return .wait(starts: state.add(waiter, at: uptime))
            }
            if state.isReading { return .use(found.credentials) }
            if rest <= Self.margin.seconds, Self.isDue(state.readAt, Self.retryPause, at: uptime) {
                (state.isReading, state.readAt) = (true, uptime)
                return .refresh(found.credentials)
            }
            guard found.files != nil, Self.isDue(state.lookedAt, Self.pause, at: uptime) else {
                return .use(found.credentials)
            }
            state.lookedAt = uptime
            return .look(found)
        }
        switch step {
        case .use(let credentials): return credentials
        case .refresh(let credentials):
            Task { await read() }
            return credentials
        case .look(let found):
            guard try await BlockingThreads.files.run({ _ in found.isOutdated }) else { return found.credentials }
            do {
                return try await reading()
            } catch let error as CancellationError {
                throw error
            } catch {
                // A file may be half written. It is looked at again.
                return found.credentials
            }
        case .wait(let starts): return try await value(of: waiter, starts: starts)
        }
    }

    /// Reads credentials again after a store has refused them: keys at most once a second, and credentials of a service
    /// at most once a minute. Callers that come meanwhile share that.
    /// - Parameter refused: The credentials of the request that was refused.
    /// - Returns: `nil` if there are no others now.
    public func renewed(after refused: S3Credentials) async -> S3Credentials? {
        let (waiter, now, uptime) = (Waiter<S3Credentials>(), clock.now, clock.uptime)
        let pause = refused.expires == nil ? Self.pause : Self.fetchPause
        let step = state.withLock { state -> Step? in
            if let others = state.found?.credentials, others != refused, others.rest(at: now) > 0 {
                return .use(others)
            }
            guard state.isReading || Self.isDue(state.refusedAt, pause, at: uptime) else { return nil }
            if !state.isReading { state.refusedAt = uptime }
            return .wait(starts: state.add(waiter, at: uptime))
        }
        switch step {
        case .use(let credentials): return credentials
        case .wait(let starts):
            let credentials = try? await value(of: waiter, starts: starts)
            return credentials == refused ? nil : credentials
        default: return nil
        }
    }

    /// Reads credentials, or waits for those that are being read.
    private func reading() async throws -> S3Credentials {
        let (waiter, uptime) = (Waiter<S3Credentials>(), clock.uptime)
        let starts = state.withLock { $0.add(waiter, at: uptime) }
        return try await value(of: waiter, starts: starts)
    }

    private func value(of waiter: Waiter<S3Credentials>, starts: Bool) async throws -> S3Credentials {
        if starts { Task { await read() } }
        return try await waiter.value {
            state.withLock { _ = $0.waiters.removeValue(forKey: ObjectIdentifier(waiter)) }
            waiter.resume(with: .failure(CancellationError()))
        }
    }

    private func read() async {
        let variables = environment ?? ProcessInfo.processInfo.environment
        let result: Result<S3CredentialChain.Finding, any Error>
        do {
            result = .success(try await S3CredentialChain(variables, requests, instance).find())
        } catch {
            result = .failure(error)
        }
        let waiters = state.withLock { state in
            state.isReading = false
            if case .success(let found) = result { state.found = found }
            defer { state.waiters = [:] }
            return Array(state.waiters.values)
        }
        for waiter in waiters { waiter.resume(with: result.map(\.credentials)) }
    }

    private static func isDue(_ last: Duration?, _ pause: Duration, at uptime: Duration) -> Bool {
        last.map { uptime - $0 >= pause } ?? true
    }
}

extension S3Credentials {
    /// How many seconds they are valid from now on; infinitely many for lasting ones.
    fileprivate func rest(at now: Date) -> Double { expires?.timeIntervalSince(now) ?? .infinity }
}
