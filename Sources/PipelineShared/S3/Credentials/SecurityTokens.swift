import Essentials
import HTTPTypes
import Pipeline
import PipelineHTTP

/// Asks Amazon's Security Token Service, or one like it, for the credentials of a role.
struct SecurityTokens: Sendable {
    /// How long the service may take.
    static let limit = Duration.seconds(10)

    private let url: URL
    private let region: String
    private let requests: CredentialRequests

    /// Takes the service of `AWS_ENDPOINT_URL_STS` or `AWS_ENDPOINT_URL`, or else Amazon's in the region of `AWS_REGION`,
    /// `AWS_DEFAULT_REGION` or the profile.
    /// - Throws: `LoadError` with `invalidURL`.
    init(_ variables: [String: String], profile: [String: String], _ requests: CredentialRequests) throws {
        let region = variables["AWS_REGION"] ?? variables["AWS_DEFAULT_REGION"] ?? profile["region"]
        if let text = variables["AWS_ENDPOINT_URL_STS"] ?? variables["AWS_ENDPOINT_URL"] {
            guard let url = URL(string: text), ["http", "https"].contains(url.scheme?.lowercased()), url.host() != nil
            else {
                throw LoadError(
                    .invalidURL, subject: redactedURL(text),
                    "This is not the URL of a Security Token Service. Change AWS_ENDPOINT_URL_STS.")
            }
            self.url = url
        } else {
            let isName = region?.utf8.allSatisfy { 0x61...0x7A ~= $0 || 0x30...0x39 ~= $0 || $0 == 0x2D } ?? true
            let host =
                region.map { "sts.\($0).amazonaws.com" + ($0.hasPrefix("cn-") ? ".cn" : "") } ?? "sts.amazonaws.com"
            guard isName, let url = URL(string: "https://\(host)/") else {
                throw LoadError(
                    .invalidURL, subject: printable(region ?? ""),
                    "This is not a region. Set AWS_REGION to one such as eu-central-1.")
            }
            self.url = url
        }
        self.region = region ?? "us-east-1"
        self.requests = requests
    }

    /// The credentials of a role that others may take on (`AssumeRole`).
    func assume(_ role: AssumedRole, with credentials: S3Credentials) async throws -> S3Credentials {
        try await ask("AssumeRole", role, [], signedWith: credentials)
    }

    /// The credentials of a role that the bearer of a token may take on (`AssumeRoleWithWebIdentity`). The file is read
    /// each time, since its token expires.
    func assume(_ role: AssumedRole, withTokenAt path: String) async throws -> S3Credentials {
        let token = try await BlockingThreads.files.run { _ in CredentialFiles.text(path)?.filter { !$0.isWhitespace } }
        guard let token, !token.isEmpty, token.utf8.count <= 20_000 else {
            throw LoadError(
                .refused, subject: printable(path),
                "The role \(printable(role.name)) needs the token of this file, which can't be read.")
        }
        return try await ask("AssumeRoleWithWebIdentity", role, [("WebIdentityToken", token)], signedWith: nil)
    }

    private func ask(
        _ action: String, _ role: AssumedRole, _ parameters: [(String, String)], signedWith credentials: S3Credentials?
    ) async throws -> S3Credentials {
        let session = role.session ?? "pipeline-\(Int(requests.clock.now.timeIntervalSince1970))"
        var items = [
            ("Action", action), ("Version", "2011-06-15"), ("RoleArn", role.name), ("RoleSessionName", session),
        ]
        if let id = role.externalID { items.append(("ExternalId", id)) }
        if let duration = role.duration { items.append(("DurationSeconds", duration)) }
        let form = (items + parameters).map { "\($0)=\(SignatureV4.encode(Array($1.utf8)))" }.joined(separator: "&")
        var request = TransferRequest(
            method: .post, url: url, headers: [.contentType: "application/x-www-form-urlencoded"],
            body: Array(form.utf8))
        if let credentials {
            let signature = SignatureV4(credentials: credentials, region: region, service: "sts")
            request = signature.sign(request, at: requests.clock.now)
        }
        func failure(_ why: String) -> LoadError {
            LoadError(
                .refused, subject: redactedURL(url.absoluteString),
                "The role \(printable(role.name)) can't be assumed: \(why)")
        }
        let (status, body) = try await requests.send(request, within: Self.limit)
        let text = String(decoding: body, as: UTF8.self)
        guard status == 200 else {
            throw failure("the service responded with \(status)\(XMLText.errorCode(text).map { " \($0)" } ?? "").")
        }
        guard let assumed = S3Credentials(xml: text) else { throw failure("the service's response is malformed.") }
        return assumed
    }
}

/// A role and how it is taken on.
struct AssumedRole: Sendable {
    /// The role's name, its ARN.
    let name: String
    /// The name of the session, which the store's logs show; `nil` for one with the time.
    var session: String?
    /// What the role's owner has given out for this.
    var externalID: String?
    /// How many seconds the credentials are valid; `nil` for an hour.
    var duration: String?

    /// Takes the role that a profile describes; `nil` if it describes none.
    init?(profile: [String: String]) {
        guard let name = profile["role_arn"] else { return nil }
        self.name = name
        session = profile["role_session_name"]
        externalID = profile["external_id"]
        duration = profile["duration_seconds"]
    }

    init(name: String, session: String?) { (self.name, self.session) = (name, session) }
}
