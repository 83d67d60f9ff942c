public import Essentials
import HTTPTypes
public import Stages

/// Decides which sources the server loads: files of one folder, and URLs that begin with an allowed one. Objects in S3-compatible
/// stores, `s3://bucket/key`, need a client that knows them, such as `SignedForS3` of `PipelineShared`.
public struct SourcePolicy: Sendable {
    /// The folder whose files may be read; `nil` for none.
    public var folder: String?
    /// Whether files outside of the folder are read to which symbolic links in it lead. By default not.
    public var followsLinks = false
    /// The beginnings of allowed URLs, each with a scheme, a host and the beginning of a path. By default none.
    public var origins: [URL] = []

    /// Allows the files of a folder and the URLs below some.
    public init(folder: String? = nil, origins: [URL] = []) { (self.folder, self.origins) = (folder, origins) }

    /// Reads what a path names.
    /// - Throws: 403 for a URL that isn't allowed; 404 for a name that can't be a file of the folder.
    public func source(_ text: String) throws(Problem) -> ImageSource {
        if let url = URL(string: text), let scheme = url.scheme?.lowercased(), Self.schemes.contains(scheme) {
            guard allows(url) else {
                throw Problem(.forbidden, "The source is not on this server's list.")
            }
            return .url(url)
        }
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        // Neither a way out of the folder nor a hidden file.
        guard let folder, !text.contains("\0"), parts.allSatisfy({ !$0.isEmpty && !$0.hasPrefix(".") }) else {
            throw Problem(.notFound, "There is no picture \(ImageSource.file(text).redacted).")
        }
        return .file(folder + "/" + text)
    }

    /// Whether a URL may be asked, at each hop of a redirect.
    public func allows(_ url: URL) -> Bool { origins.contains { Self.does(url, beginWith: $0) } }

    /// Whether a URL can be the beginning of others.
    static func isOrigin(_ url: URL) -> Bool {
        url.scheme.map { schemes.contains($0.lowercased()) } == true && url.host()?.isEmpty == false
    }

    private static let schemes: Set<String> = ["http", "https", "s3"]

    /// Compares parts rather than text: `https://images.example` must not allow `https://images.example.attacker.example`.
    static func does(_ url: URL, beginWith origin: URL) -> Bool {
        guard url.scheme?.lowercased() == origin.scheme?.lowercased(),
            url.host()?.lowercased() == origin.host()?.lowercased(), url.port == origin.port,
            url.user() == nil, url.password() == nil
        else { return false }
        let (path, start) = (url.path(), origin.path())
        // A path with dots could leave the allowed part.
        guard let plain = path.percentDecoded, !plain.split(separator: "/").contains("..") else { return false }
        return start.isEmpty || start == "/" || path == start
            || path.hasPrefix(start.hasSuffix("/") ? start : start + "/")
    }
}
