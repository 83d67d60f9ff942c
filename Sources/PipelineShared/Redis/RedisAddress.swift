import Essentials
import Pipeline

/// Where a Redis server listens, and how a client signs in.
///
/// ```swift
/// let address = try RedisAddress("redis://images:secret@cache.internal:6379/2")
/// let local = try RedisAddress("unix:///run/redis/redis.sock?namespace=thumbnails")
/// let encrypted = try RedisAddress("rediss://cache.internal?ca=/etc/redis/ca.pem")
/// let watched = try RedisAddress("redis+sentinel://a.internal,b.internal,c.internal/images")
/// ```
///
/// Its description has neither the user nor the password.
public struct RedisAddress: Sendable, Hashable {
    /// The endpoint of the server.
    package enum Endpoint: Sendable, Hashable {
        /// A host's name or address, and a port.
        case host(String, port: Int)
        /// The path of a Unix socket.
        case socket(path: String)
        /// The primary of which sentinels know the host.
        case primary(RedisSentinels)

        /// The host's name or address; empty for other endpoints.
        var host: String { if case .host(let host, _) = self { host } else { "" } }
    }

    /// The endpoint.
    package var endpoint: Endpoint
    /// The user of an access control list (Redis 6 and later); `nil` for the default user.
    package var user: String?
    /// The password; `nil` for a server that wants none.
    package var password: String?
    /// The file that holds the password, which is read for each connection; `nil` for none.
    package var passwordFile: String?
    /// The number of the database; 0 by default.
    package var database: Int
    /// What all keys begin with; `nil` for what the fleet says.
    package var namespace: String?
    /// By which name the server lists this client; that of the program by default.
    package var clientName: String?
    /// How the connection is encrypted; `nil` if it isn't.
    package var tls: RedisTLS?

    /// Describes a server.
    package init(
        _ endpoint: Endpoint, user: String? = nil, password: String? = nil, database: Int = 0, tls: RedisTLS? = nil
    ) {
        self.endpoint = endpoint
        self.user = user
        self.password = password
        self.database = database
        self.tls = tls
    }

    /// Reads a URL: `redis://user:password@host:port/database`, or `rediss://` for TLS, or
    /// `unix://user:password@/path?db=database`, each part but the host or the path optional. The port is 6379 by default.
    ///
    /// With Redis Sentinel, `redis+sentinel://user:password@host:port,host:port/name?db=database` names the sentinels and
    /// the primary's name in their configuration. Each new connection asks them where it is. Their port is 26379 by
    /// default; with `rediss+sentinel://`, they and Redis use TLS. User and password are those of Redis.
    ///
    /// These parameters may follow:
    ///
    /// | Parameter | Meaning |
    /// |---|---|
    /// | `namespace` | What all keys of the fleet begin with |
    /// | `password-file` | A file whose first line is the password, which is read again for each connection |
    /// | `sentinel-user` | The user of the sentinels' access control list, the default user by default |
    /// | `sentinel-password-file` | The same as `password-file` with the password of the sentinels |
    /// | `client` | The name by which the server lists this client, that of the program by default |
    /// | `ca` | With TLS, a file with the certificates of the authorities to trust, the system's by default |
    /// | `cert`, `key` | With TLS, the files with this client's certificate and its private key, which is in the first by default |
    /// | `server-name` | With TLS, the name that the server's certificate must have, the host by default |
    ///
    /// TLS is 1.2 or later, and the server's certificate is always verified. Files are in PEM.
    /// - Throws: `LoadError` with `invalidURL` or, for other schemes, `unsupportedScheme`.
    public init(_ url: String) throws {
        let subject = Self.redacted(url)
        let (url, hosts) = Self.splitHosts(url)
        guard let parts = URLComponents(string: url), let scheme = parts.scheme?.lowercased() else {
            throw LoadError(
                .invalidURL, subject: subject,
                "This is not the URL of a Redis server. Write redis://host:port/database or unix:///path.")
        }
        let database: Substring?
        let parameter = parts.queryItems?.first { $0.name == "db" }?.value.map { $0[...] }
        switch scheme {
        case "redis", "rediss":
            guard let host = parts.host, !host.isEmpty else {
                throw LoadError(.invalidURL, subject: subject, "The URL has no host. Write redis://host:port/database.")
            }
            guard !host.contains(",") else {
                throw LoadError(
                    .invalidURL, subject: subject,
                    "The URL has several hosts, as sentinels have. Write \(scheme)+sentinel://host,host/name.")
            }
            endpoint = .host(host.trimmingBrackets, port: parts.port ?? 6379)
            let path = parts.path.dropFirst()
            database = path.isEmpty ? nil : path
        case "unix":
            guard parts.path.hasPrefix("/"), parts.path.count > 1, parts.host ?? "" == "" else {
                throw LoadError(
                    .invalidURL, subject: subject,
                    "The URL has no absolute path. Write unix:///path with three slashes.")
            }
            endpoint = .socket(path: parts.path)
            database = parameter
        case "redis+sentinel", "rediss+sentinel":
            let servers = hosts.compactMap { host -> Endpoint? in
                guard let parts = URLComponents(string: "redis://" + host), let name = parts.host, !name.isEmpty else {
                    return nil
                }
                return .host(name.trimmingBrackets, port: parts.port ?? 26_379)
            }
            let name = parts.path.dropFirst()
            guard servers.count == hosts.count, !name.isEmpty, !name.contains("/") else {
                throw LoadError(
                    .invalidURL, subject: subject,
                    "The URL has no sentinels or no name. Write \(scheme)://host:port,host:port/name with the primary's name in "
                        + "sentinel.conf.")
            }
            endpoint = .primary(RedisSentinels(of: String(name), at: servers))
            database = parameter
        default:
            throw LoadError(
                .unsupportedScheme, subject: subject,
                "The scheme \(printable(scheme)) is not one of a Redis server. Write redis://, rediss://, redis+sentinel:// or unix://."
            )
        }
        guard let number = database.map({ Int($0) }) ?? 0, number >= 0 else {
            throw LoadError(.invalidURL, subject: subject, "The database is not a number. Write one such as /0.")
        }
        (user, password) = (parts.user.flatMap { $0.isEmpty ? nil : $0 }, parts.password)
        self.database = number
        let isEncrypted = scheme.hasPrefix("rediss")
        var tls = RedisTLS()
        for item in parts.queryItems ?? [] {
            let value = item.value.flatMap { $0.isEmpty ? nil : $0 }
            switch item.name {
            case "namespace": namespace = value
            case "password-file": passwordFile = value
            case "client": clientName = value
            case "db" where scheme == "unix" || !hosts.isEmpty: break
            case "sentinel-user" where !hosts.isEmpty, "sentinel-password-file" where !hosts.isEmpty:
                guard case .primary(var sentinels) = endpoint else { break }
                if item.name == "sentinel-user" { sentinels.user = value } else { sentinels.passwordFile = value }
                endpoint = .primary(sentinels)
            case "ca", "cert", "key", "server-name":
                guard isEncrypted else {
                    throw LoadError(
                        .invalidURL, subject: subject,
                        "The parameter \(item.name) is for TLS. Write rediss://host:port/database.")
                }
                switch item.name {
                case "ca": tls.authorities = value
                case "cert": tls.certificate = value
                case "key": tls.key = value
                default: tls.serverName = value
                }
            default:
                throw LoadError(
                    .invalidURL, subject: subject,
                    "The parameter \(printable(item.name)) is not known. Known are namespace, password-file and client, "
                        + "for rediss:// also ca, cert, key and server-name, for sentinels db, sentinel-user and "
                        + "sentinel-password-file."
                )
            }
            if value == nil {
                throw LoadError(.invalidURL, subject: subject, "The parameter \(item.name) has no value. Give it one.")
            }
        }
        if password != nil, passwordFile != nil {
            throw LoadError(
                .invalidURL, subject: subject, "The URL has a password and a password-file. Give one of them.")
        }
        if case .primary(let sentinels) = endpoint, sentinels.user != nil, sentinels.passwordFile == nil {
            throw LoadError(
                .invalidURL, subject: subject,
                "The URL has a user of the sentinels without a password. Name its file by sentinel-password-file.")
        }
        if tls.key != nil, tls.certificate == nil {
            throw LoadError(
                .invalidURL, subject: subject, "The URL has a key without a certificate. Name its file by cert.")
        }
        self.tls = isEncrypted ? tls : nil
    }

    /// The password to sign in with.
    /// - Throws: ``RedisFailure`` if its file can't be read.
    func currentPassword() throws(RedisFailure) -> String? {
        guard let passwordFile else { return password }
        return try Self.password(in: passwordFile)
    }

    /// The password in a file's first line.
    /// - Throws: ``RedisFailure`` if it can't be read.
    static func password(in file: String) throws(RedisFailure) -> String? {
        guard let text = try? String(contentsOfFile: file, encoding: .utf8) else {
            throw .unreachable("the file with its password can't be read: \(printable(file))")
        }
        return text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).first.map(String.init)
    }

    /// Takes the hosts of sentinels, of which a URL has one otherwise.
    /// - Returns: The URL with the first host alone, and all hosts; none for other URLs.
    private static func splitHosts(_ url: String) -> (url: String, hosts: [String]) {
        guard let scheme = url.firstRange(of: "://"), url[..<scheme.lowerBound].lowercased().hasSuffix("+sentinel")
        else {
            return (url, [])
        }
        let end = url[scheme.upperBound...].firstIndex { "/?#".contains($0) } ?? url.endIndex
        let authority = url[scheme.upperBound..<end]
        let start = authority.lastIndex(of: "@").map { url.index(after: $0) } ?? authority.startIndex
        let hosts = url[start..<end].split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        return (url[..<start] + (hosts.first ?? "") + url[end...], hosts)
    }

    private static func redacted(_ url: String) -> String {
        url.firstRange(of: "://") == nil ? "…" : redactedURL(url)
    }
}

extension RedisAddress {
    /// The name by which the server lists this client: it takes no spaces and nothing that isn't visible.
    var nameOfClient: String {
        let name = clientName ?? CommandLine.arguments.first?.split(separator: "/").last.map(String.init) ?? "pipeline"
        return String(name.unicodeScalars.filter { $0.isASCII && $0.value > 32 && $0.value < 127 }.map(Character.init))
    }
}

extension String {
    fileprivate var trimmingBrackets: String {
        hasPrefix("[") && hasSuffix("]") ? String(dropFirst().dropLast()) : self
    }
}
