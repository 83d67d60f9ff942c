import Digests

/// A customer of a server that serves several: its keys, its sources and its share of the work.
///
/// ```swift
/// var shop = try Tenant("shop", keys: SigningKeys(contentsOfFile: "shop.keys"))
/// shop.sources = try SourcePolicy(folder: nil, prefixes: ["https://shop.example/photos/"])
/// shop.requestsPerSecond = 50
/// try configuration.setTenants([shop])
/// ```
///
/// The key that a path is signed with tells whose it is. Each tenant is a partition of all caches: it neither gets another's
/// responses and results, nor can it measure whether they are there. The log and the metrics name the tenant.
///
/// A path that ``ServerConfiguration/keys`` sign belongs to no tenant. ``ServerConfiguration/purgeToken`` and the path's signature
/// decide together what `PURGE` removes: the source in the tenant's caches. A signature alone allows no `PURGE`, since every
/// visitor of a page has it.
public struct Tenant: Sendable {
    /// The name in logs, metrics and keys of caches.
    public let name: String
    /// The keys of its paths, several while one is rotated.
    public let keys: SigningKeys
    /// Its sources, in place of the server's, whose folder it can't read then; `nil`, the default, for the server's.
    public var sources: SourcePolicy?
    /// Lifetimes of its sources, which come before the server's; by default none.
    public var lifetimes: [SourceLifetime] = []
    /// How many requests a second all its clients may send together; 0, the default, for any number.
    public var requestsPerSecond = 0.0
    /// How many of these requests may come at once; 400 by default.
    public var burst = 400
    /// The most results in progress and waiting; `nil`, the default, for half of ``ServerConfiguration/queueLimit``.
    public var queueLimit: Int?

    /// Makes a tenant.
    /// - Throws: ``ServerConfigurationError`` for a name that isn't 1 to 64 letters, digits, dots, hyphens and underscores of ASCII.
    public init(_ name: String, keys: SigningKeys) throws(ServerConfigurationError) {
        let isName = name.utf8.allSatisfy { byte in
            UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20 || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
                || "-._".utf8.contains(byte)
        }
        guard isName, 1...64 ~= name.utf8.count else {
            throw ServerConfigurationError(
                "A tenant's name is 1 to 64 letters, digits, dots, hyphens and underscores; \(name.jsonText) is not.")
        }
        (self.name, self.keys) = (name, keys)
    }

    /// - Throws: ``ServerConfigurationError`` for two tenants of one name, and for keys that would make a path two tenants', or
    ///   a tenant's and the server's.
    static func check(_ tenants: [Tenant], besides server: SigningKeys?) throws(ServerConfigurationError) {
        var owners: [[UInt8]: String] = [:]
        var names: Set<String> = []
        let all = (server.map { [("the server", $0)] } ?? []) + tenants.map { ("the tenant \($0.name)", $0.keys) }
        for (owner, keys) in all {
            guard names.insert(owner).inserted else {
                throw ServerConfigurationError("There are two tenants of one name: \(owner).")
            }
            for mark in keys.marks {
                if let other = owners.updateValue(owner, forKey: mark), other != owner {
                    throw ServerConfigurationError(
                        "\(other) and \(owner) have a key or a trusted signature in common. Give each its own.")
                }
            }
        }
    }
}

extension SigningKeys {
    /// What tells keys apart: what they sign, since HMAC takes a key with zeros at its end for the one without.
    fileprivate var marks: [[UInt8]] {
        keys.map { AuthenticationCode.sha256([], key: $0.secret) }
            + trustedSignatures.map { Array("trusted \($0)".utf8) }
    }
}

extension ServerConfiguration {
    /// Serves several tenants, instead of those from before.
    /// - Throws: ``ServerConfigurationError`` for two tenants of one name, or with a key in common, also with ``keys``.
    public mutating func setTenants(_ tenants: [Tenant]) throws(ServerConfigurationError) {
        try Tenant.check(tenants, besides: keys)
        self.tenants = tenants
    }

    /// Whether paths are served without a signature.
    var isUnsigned: Bool { keys == nil && (tenants.isEmpty || servesUnsigned) }

    /// The configuration for the paths of a tenant.
    func serving(_ tenant: Tenant) -> ServerConfiguration {
        var own = self
        (own.keys, own.sources) = (tenant.keys, tenant.sources ?? sources)
        own.lifetimes = tenant.lifetimes + lifetimes
        return own
    }
}

extension Tenant {
    /// Reads tenants as options and files name them.
    /// - Parameters:
    ///   - files: `NAME=FILE`, a tenant and its file of keys; see ``SigningKeys/init(file:)``.
    ///   - sources: `NAME=URL`, the beginning of URLs that it may load. With one, the server's sources aren't the tenant's.
    ///   - rates: `NAME=REQUESTS` a second, or `NAME=REQUESTS,BURST`.
    ///   - queues: `NAME=NUMBER`, its ``queueLimit``.
    ///   - lifetimes: `NAME=URL=SECONDS`; see ``SourceLifetime/init(parsing:)``.
    /// - Throws: ``ServerConfigurationError`` for a text that is malformed, a file without keys, and a name that isn't among
    ///   those of `files`.
    public static func tenants(
        _ files: [String], sources: [String] = [], rates: [String] = [], queues: [String] = [], lifetimes: [String] = []
    ) throws(ServerConfigurationError) -> [Tenant] {
        var tenants: [Tenant] = []
        for text in files {
            guard let (name, file) = named(text) else { throw ServerConfigurationError("\(text) is not NAME=FILE.") }
            tenants.append(try Tenant(name, keys: SigningKeys(contentsOfFile: file)))
        }
        func set(
            _ texts: [String], _ form: String,
            _ change: (inout Tenant, String) throws(ServerConfigurationError) -> Bool
        ) throws(ServerConfigurationError) {
            for text in texts {
                guard let (name, value) = named(text) else { throw ServerConfigurationError("\(text) is not \(form).") }
                guard let index = tenants.firstIndex(where: { $0.name == name }) else {
                    throw ServerConfigurationError("\(text): there is no tenant of this name.")
                }
                guard try change(&tenants[index], value) else {
                    throw ServerConfigurationError("\(text) is not \(form).")
                }
            }
        }
        try set(sources, "NAME=URL") { (tenant, value) throws(ServerConfigurationError) in
            let own = try SourcePolicy(folder: nil, prefixes: [value])
            tenant.sources = SourcePolicy(origins: (tenant.sources?.origins ?? []) + own.origins)
            return true
        }
        try set(rates, "NAME=REQUESTS or NAME=REQUESTS,BURST") { (tenant, value) throws(ServerConfigurationError) in
            let words = value.split(separator: ",", omittingEmptySubsequences: false)
            guard 1...2 ~= words.count, let rate = words[0].plainDecimal, 0...1e9 ~= rate else { return false }
            tenant.requestsPerSecond = rate
            guard words.count == 2 else { return true }
            guard let burst = words[1].plainNumber, burst >= 1 else { return false }
            tenant.burst = burst
            return true
        }
        try set(queues, "NAME=NUMBER, of 1 or more") { (tenant, value) throws(ServerConfigurationError) in
            tenant.queueLimit = value.plainNumber
            return (tenant.queueLimit ?? 0) >= 1
        }
        try set(lifetimes, "NAME=URL=SECONDS") { (tenant, value) throws(ServerConfigurationError) in
            tenant.lifetimes.append(try SourceLifetime(parsing: value))
            return true
        }
        return tenants
    }

    private static func named(_ text: String) -> (name: String, value: String)? {
        let words = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        return words.count == 2 && !words[1].isEmpty ? (String(words[0]), String(words[1])) : nil
    }
}
