import Essentials
import HTTPTypes
import Pipeline
import PipelineHTTP

/// The credentials of the role of an EC2 instance, from its metadata service, version 2: each request has a token that
/// was fetched by a PUT, which a server that can be led to send requests doesn't send.
final class InstanceCredentials: Sendable {
    /// How long each response may take. A machine that isn't in EC2 has no such service.
    static let limit = Duration.seconds(1)
    /// How long a machine without the service isn't asked again.
    static let pause = Duration.seconds(10)

    private let missedAt = Lock<Duration?>(nil)

    /// Fetches the credentials.
    /// - Returns: `nil` if `AWS_EC2_METADATA_DISABLED` is `true`, or the machine has no such service or no role.
    func fetch(_ variables: [String: String], _ requests: CredentialRequests) async throws -> S3Credentials? {
        let now = requests.clock.uptime
        guard variables["AWS_EC2_METADATA_DISABLED"]?.lowercased() != "true",
            missedAt.withLock({ $0.map { now - $0 >= Self.pause } ?? true }),
            let token = await token(variables, requests)
        else { return nil }
        func get(_ path: String) async throws -> (status: Int, body: [UInt8]) {
            guard let name = HTTPField.Name("X-aws-ec2-metadata-token"), let url = Self.url(path, variables) else {
                return (404, [])
            }
            return try await requests.send(TransferRequest(url: url, headers: [name: token]), within: Self.limit)
        }
        let roles = try await get("meta-data/iam/security-credentials/")
        // The instance has no role.
        if roles.status == 404 { return nil }
        let role = String(decoding: roles.body, as: UTF8.self).split(whereSeparator: \.isNewline).first.map(String.init)
        guard roles.status == 200, let role, role.utf8.count <= 64, Self.isName(role) else {
            throw failure("can't be fetched: its service responded with \(roles.status), without the name of a role.")
        }
        let (status, body) = try await get("meta-data/iam/security-credentials/\(role)")
        guard status == 200 else { throw failure("can't be fetched: its service responded with \(status).") }
        guard let credentials = S3Credentials(json: body) else { throw failure("are malformed.") }
        return credentials
    }

    /// Fetches a token; `nil` if there is no such service.
    private func token(_ variables: [String: String], _ requests: CredentialRequests) async -> String? {
        guard let url = Self.url("api/token", variables),
            let name = HTTPField.Name("X-aws-ec2-metadata-token-ttl-seconds"),
            let reply = try? await requests.send(
                TransferRequest(method: .put, url: url, headers: [name: "60"]), within: Self.limit)
        else {
            let now = requests.clock.uptime
            missedAt.withLock { $0 = now }
            return nil
        }
        let token = String(decoding: reply.body, as: UTF8.self)
        let isToken = !token.isEmpty && token.utf8.allSatisfy { 0x21...0x7E ~= $0 }
        return reply.status == 200 && isToken ? token : nil
    }

    /// The URL of a path of the service, below `AWS_EC2_METADATA_SERVICE_ENDPOINT` if that is set.
    private static func url(_ path: String, _ variables: [String: String]) -> URL? {
        let isNew = variables["AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE"]?.lowercased() == "ipv6"
        var base =
            variables["AWS_EC2_METADATA_SERVICE_ENDPOINT"]
            ?? (isNew ? "http://[fd00:ec2::254]" : "http://169.254.169.254")
        while base.hasSuffix("/") { base.removeLast() }
        return URL(string: "\(base)/latest/\(path)")
    }

    /// Whether a role can have this name.
    private static func isName(_ name: String) -> Bool {
        name.utf8.allSatisfy { byte in
            UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20 || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
                || "+=,.@-_".utf8.contains(byte)
        }
    }

    private func failure(_ why: String) -> LoadError {
        LoadError(.refused, subject: "EC2", "The credentials of this instance \(why)")
    }
}
