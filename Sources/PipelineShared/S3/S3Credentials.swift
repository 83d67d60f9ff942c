public import Essentials
import LibC
import Pipeline
import PipelineHTTP

/// The keys that sign requests to an S3-compatible store. Its description has neither the secret nor the token.
public struct S3Credentials: Sendable, Hashable {
    /// The access key's identifier.
    package var accessKey: String
    /// The secret key.
    package var secretKey: String
    /// The token of temporary credentials; `nil` for lasting ones.
    package var sessionToken: String?
    /// When temporary credentials stop being valid; `nil` for lasting ones.
    package var expires: Date?

    /// Wraps keys.
    public init(accessKey: String, secretKey: String, sessionToken: String? = nil, expires: Date? = nil) {
        self.accessKey = accessKey
        self.secretKey = secretKey
        self.sessionToken = sessionToken
        self.expires = expires
    }

    /// Reads the variables `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and `AWS_SESSION_TOKEN`, or else a profile of the
    /// credentials file: `AWS_PROFILE`, or `default`, in `AWS_SHARED_CREDENTIALS_FILE`, or `~/.aws/credentials`.
    /// - Parameter environment: The variables; those of the process by default.
    /// - Throws: `LoadError` with the code `refused` if neither has credentials.
    init(environment: [String: String]? = nil) throws {
        let environment = environment ?? ProcessInfo.processInfo.environment
        if let key = environment["AWS_ACCESS_KEY_ID"], let secret = environment["AWS_SECRET_ACCESS_KEY"] {
            self.init(accessKey: key, secretKey: secret, sessionToken: environment["AWS_SESSION_TOKEN"])
            return
        }
        let path = environment["AWS_SHARED_CREDENTIALS_FILE"] ?? (environment["HOME"] ?? "") + "/.aws/credentials"
        let profile = environment["AWS_PROFILE"] ?? "default"
        guard let text = try? String(contentsOfFile: path, encoding: .utf8),
            let credentials = S3Credentials(file: text, profile: profile)
        else {
            throw LoadError(
                .refused, subject: printable(path),
                "There are no credentials for S3. Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or add the profile "
                    + "\(printable(profile)) to the file.")
        }
        self = credentials
    }

    /// Reads a profile of a credentials file; `nil` if it isn't there or not whole.
    init?(file: String, profile: String) {
        var (section, values) = ("", [String: String]())
        for line in file.split(whereSeparator: \.isNewline) {
            let line = line.trimmed
            if line.hasPrefix("["), line.hasSuffix("]") {
                section = String(line.dropFirst().dropLast().trimmed)
            } else if section == profile, let equals = line.firstIndex(of: "="), !line.hasPrefix("#") {
                values[line[..<equals].trimmed.lowercased()] = String(line[line.index(after: equals)...].trimmed)
            }
        }
        guard let key = values["aws_access_key_id"], let secret = values["aws_secret_access_key"] else { return nil }
        self.init(accessKey: key, secretKey: secret, sessionToken: values["aws_session_token"])
    }
}

extension S3Credentials: CustomStringConvertible, CustomReflectable {
    /// The access key's identifier alone.
    public var description: String { "S3Credentials(\(printable(accessKey)))" }

    /// The description alone, so that `dump` shows no secret either.
    public var customMirror: Mirror { Mirror(self, children: ["accessKey": accessKey]) }
}

extension StringProtocol {
    fileprivate var trimmed: SubSequence {
        let isSpace: (Character) -> Bool = { $0 == " " || $0 == "\t" }
        guard let start = firstIndex(where: { !isSpace($0) }), let end = lastIndex(where: { !isSpace($0) }) else {
            return self[endIndex...]
        }
        return self[start...end]
    }
}
