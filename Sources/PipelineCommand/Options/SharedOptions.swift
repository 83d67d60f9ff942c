#if Fleet
import ArgumentParser
import Essentials
import Pipeline
import PipelineShared
import Stages

/// The options for the tier that machines share.
struct SharedOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Share responses through this Redis server. redis://user:password@host:port/database, rediss:// for TLS (?ca=, ?cert=, ?key=, ?server-name=), redis+sentinel://host,host/name or unix:///path; the variable \(Program.variablePrefix)SHARED keeps a password out of the list of processes.",
            valueName: "url"),
        completion: .default)
    var shared: String?

    @Option(
        help: ArgumentHelp(
            "Begin the keys there with this name. All programs that share what they fetch use the same; pipeline by default.",
            valueName: "name"))
    var namespace: String?

    @Option(
        help: ArgumentHelp(
            "Keep large shared responses in this bucket. s3://bucket/prefix, with ?endpoint=https://host for a store other than Amazon's.",
            valueName: "url"))
    var blobs: String?

    func validate() throws {
        do {
            _ = try shared.map { try RedisAddress($0) }
            _ = try blobs.map { try S3Bucket($0) }
        } catch let error as LoadError {
            throw ValidationError(CommandWords.text(of: error))
        }
        if blobs != nil, shared == nil { throw ValidationError("--blobs needs --shared.") }
        if let namespace {
            if shared == nil { throw ValidationError("--namespace needs --shared.") }
            if namespace.isEmpty { throw ValidationError("--namespace needs a name.") }
        }
    }

    /// The fleet; `nil` without the option. Nothing is connected until it is needed.
    func fleet(users: HTTPCache.Users = .several) -> Fleet? {
        // Both were read before.
        guard let address = shared.flatMap({ try? RedisAddress($0) }) else { return nil }
        let blobs = blobs.flatMap { try? S3Bucket($0) }.map { S3Blobs($0) }
        // A verb has just started, and its first request has to connect.
        let limits = RedisLimits(request: .seconds(1), connecting: .seconds(1))
        return Fleet(address, namespace: namespace, blobs: blobs, connecting: limits, users: users)
    }

    /// The fleet of a verb that works on the shared tier alone; `nil` without the option.
    /// - Throws: `LoadError` if the server can't be used, which must not be taken for an empty one.
    func usableFleet() async throws -> Fleet? {
        guard let fleet = fleet() else { return nil }
        try await fleet.check()
        return fleet
    }

    /// Refuses a policy that has no shared tier.
    func check(_ policy: CachePolicy) throws {
        guard shared == nil || policy == .standard else {
            throw ValidationError("--shared goes with the policy returnCacheElseLoad, without delays.")
        }
    }

    /// The server as output may name it: without user and password.
    var subject: String { shared.map { redactedURL($0) } ?? "" }

    /// What `doctor` finds of the server and the bucket; nothing without the option.
    func findings() async -> [DoctorFinding] {
        guard let fleet = fleet() else { return [] }
        defer { fleet.close() }
        var server: FleetServer?
        var isReached = true
        var findings = [
            await DoctorFinding("shared", subject) {
                do { server = try await fleet.inspectServer() } catch let error as LoadError {
                    isReached = error.code != .unreachable
                    throw error
                }
                guard let server else { return ("usable; allow this user INFO to see more", true) }
                let memory = server.byteLimit == 0 ? "" : " of \(ByteCount.text(server.byteLimit))"
                let state = ["Redis \(server.version), \(ByteCount.text(server.usedBytes))\(memory)"] + server.advice
                return (state.joined(separator: "; "), server.isUsable)
            }
        ]
        if isReached {
            findings.append(await DoctorFinding("shared", "rights") { try await fleet.tryRights() })
            findings.append(await DoctorFinding("shared", "messages") { try await fleet.tryMessages() })
            findings.append(await DoctorFinding("shared", "clock") { try await fleet.tryClock() })
        }
        if let server {
            let (state, isWell) = server.persistence(await fleet.snapshots())
            findings.append(DoctorFinding("shared", "eviction", server.eviction, true))
            findings.append(DoctorFinding("shared", "persistence", state, isWell))
        }
        guard let blobs else { return findings }
        let bucket = await DoctorFinding("shared", redactedURL(blobs)) {
            guard let bucket = try await fleet.inspectBlobs() else { return ("unused", true) }
            let state =
                bucket.isConditional ? "written once" : "without conditional writes, so equal bytes are sent again"
            let advice = bucket.tellsMissing ? "" : "; allow s3:ListBucket, without which missing objects are refused"
            return ("large responses are \(state)\(advice)", true)
        }
        return findings + [bucket]
    }
}

/// A client that loads `s3:` URLs with the credentials of this machine, and passes on all other requests unchanged: a
/// public object of an http URL needs no credentials.
final class S3URLs: TransferClient {
    private let client: any TransferClient
    private let credentials = S3CredentialSource()

    init(_ client: any TransferClient) { self.client = client }

    func send(_ request: TransferRequest) async throws -> TransferResponse {
        guard request.url.scheme?.lowercased() == "s3" else { return try await client.send(request) }
        let signed = SignedForS3(client, at: try S3Endpoint(), credentials: credentials)
        return try await signed.send(request)
    }

    var urlRule: (@Sendable (URL) -> Bool)? { client.urlRule }

    func shutdown() async { await client.shutdown() }
}
#endif
