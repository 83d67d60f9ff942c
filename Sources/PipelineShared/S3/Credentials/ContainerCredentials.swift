import Essentials
import HTTPTypes
import Pipeline
import PipelineHTTP

/// The credentials of a container, from the endpoint that `AWS_CONTAINER_CREDENTIALS_RELATIVE_URI` or
/// `AWS_CONTAINER_CREDENTIALS_FULL_URI` names.
struct ContainerCredentials: Sendable {
    /// How long the endpoint may take.
    static let limit = Duration.seconds(2)

    let variables: [String: String]
    let requests: CredentialRequests

    /// Fetches the credentials.
    /// - Returns: `nil` if no variable names an endpoint.
    func fetch() async throws -> S3Credentials? {
        guard let url = try endpoint else { return nil }
        func failure(_ why: String) -> LoadError {
            LoadError(.refused, subject: redactedURL(url.absoluteString), "The container's credentials \(why)")
        }
        var request = TransferRequest(url: url)
        request.headers[.accept] = "application/json"
        if let path = variables["AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"] {
            guard let text = try await BlockingThreads.files.run({ _ in CredentialFiles.text(path) }) else {
                throw failure("need the token of \(printable(path)), which can't be read.")
            }
            request.headers[.authorization] = String(text.filter { !$0.isNewline })
        } else if let token = variables["AWS_CONTAINER_AUTHORIZATION_TOKEN"] {
            request.headers[.authorization] = token
        }
        let (status, body) = try await requests.send(request, within: Self.limit)
        guard status == 200 else { throw failure("can't be fetched: the endpoint responded with \(status).") }
        guard let credentials = S3Credentials(json: body) else { throw failure("are malformed.") }
        return credentials
    }

    /// The URL of the endpoint; `nil` if no variable names one.
    private var endpoint: URL? {
        get throws {
            if let path = variables["AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"] {
                return path.hasPrefix("/") ? URL(string: "http://169.254.170.2\(path)") : nil
            }
            guard let text = variables["AWS_CONTAINER_CREDENTIALS_FULL_URI"] else { return nil }
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
    }
}
