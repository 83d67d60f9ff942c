import Essentials
import Pipeline

/// The profiles of the credentials file and the configuration file of Amazon's SDKs. Where both files have a value, that
/// of the credentials file counts.
struct CredentialProfiles: Sendable {
    /// The values of each profile by their names in lower case.
    private var profiles: [String: [String: String]] = [:]

    /// Reads the texts of both files.
    init(credentials: String, configuration: String) {
        read(configuration) { title in
            if title == "default" { return "default" }
            guard title.hasPrefix("profile"), title.dropFirst(7).first?.isWhitespace == true else { return nil }
            return String(title.dropFirst(7).trimmed).trimming("\"").trimming("'")
        }
        read(credentials) { String($0) }
    }

    /// The values of a profile; `nil` if neither file has it.
    subscript(name: String) -> [String: String]? { profiles[name] }

    /// - Parameter profile: Returns the profile that a section describes; `nil` if it describes another thing.
    private mutating func read(_ text: String, profile: (Substring) -> String?) {
        var (section, isInGroup): (String?, Bool) = (nil, false)
        for line in text.split(whereSeparator: \.isNewline) {
            let content = line.trimmed
            if content.isEmpty || content.hasPrefix("#") || content.hasPrefix(";") { continue }
            if content.hasPrefix("["), let end = content.firstIndex(of: "]") {
                section = profile(content[content.index(after: content.startIndex)..<end].trimmed)
                isInGroup = false
                if let section, profiles[section] == nil { profiles[section] = [:] }
                continue
            }
            guard let section, let equals = content.firstIndex(of: "=") else { continue }
            let value = content[content.index(after: equals)...].trimmed
            // Settings of a service are indented below a line such as `s3 =`.
            if line.first?.isWhitespace == false { isInGroup = value.isEmpty } else if isInGroup { continue }
            profiles[section]?[content[..<equals].trimmed.lowercased()] = value.isEmpty ? nil : String(value)
        }
    }
}

/// The two files that have profiles.
struct CredentialFiles: Sendable {
    /// The most bytes of a file that is read.
    static let byteLimit = 1_000_000

    let credentials: String
    let configuration: String

    /// Takes the paths from the variables, or the usual ones.
    init(_ variables: [String: String]) {
        func path(_ name: String, _ usual: String) -> String {
            Self.expand(variables[name] ?? usual, home: variables["HOME"])
        }
        credentials = path("AWS_SHARED_CREDENTIALS_FILE", "~/.aws/credentials")
        configuration = path("AWS_CONFIG_FILE", "~/.aws/config")
    }

    /// What tells whether a file has changed since; `nil` for a file that isn't there. It blocks.
    var stamps: [String: String?] {
        var stamps: [String: String?] = [:]
        for path in [credentials, configuration] { stamps.updateValue(try? FileStatus(path: path).stamp, forKey: path) }
        return stamps
    }

    /// Reads the profiles; a file that can't be read has none. It blocks.
    func read() -> CredentialProfiles {
        CredentialProfiles(credentials: Self.text(credentials) ?? "", configuration: Self.text(configuration) ?? "")
    }

    /// The text of a file; `nil` if it can't be read, or is too long. It blocks.
    static func text(_ path: String) -> String? {
        guard let status = try? FileStatus(path: path), status.byteCount <= byteLimit else { return nil }
        return try? String(contentsOfFile: path, encoding: .utf8)
    }

    /// A path with the user's folder for its tilde.
    static func expand(_ path: String, home: String?) -> String {
        path.hasPrefix("~/") ? (home ?? "") + path.dropFirst() : path
    }
}

extension StringProtocol {
    /// The text without the spaces and tabs at its ends.
    fileprivate var trimmed: SubSequence {
        let isSpace: (Character) -> Bool = { $0 == " " || $0 == "\t" }
        guard let start = firstIndex(where: { !isSpace($0) }), let end = lastIndex(where: { !isSpace($0) }) else {
            return self[endIndex...]
        }
        return self[start...end]
    }
}

extension String {
    /// The text without a pair of quotation marks around it.
    fileprivate func trimming(_ mark: Character) -> String {
        count >= 2 && first == mark && last == mark ? String(dropFirst().dropLast()) : self
    }
}
