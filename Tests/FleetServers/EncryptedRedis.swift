import Pipeline
package import PipelineShared

/// A Redis server that also listens on a port of 127.0.0.1, for TLS alone.
package final class EncryptedRedis: Sendable {
    package static var isInstalled: Bool { RedisServer.isInstalled && Certificates.isAvailable }

    package let server: RedisServer
    package let certificates: Certificates
    private let port: Int

    /// Starts a server.
    /// - Parameters:
    ///   - certificate: The name of its certificate.
    ///   - wantsClients: Whether it requires a certificate of its clients.
    ///   - protocols: The versions of TLS that it takes.
    package init(
        _ certificates: Certificates, certificate: String = "server", wantsClients: Bool = false,
        protocols: String = "TLSv1.2 TLSv1.3"
    ) throws {
        self.certificates = certificates
        port = try freePort()
        server = try RedisServer(
            "--tls-port", "\(port)", "--tls-cert-file", certificates.certificate(certificate),
            "--tls-key-file", certificates.key(certificate),
            "--tls-ca-cert-file", certificates.certificate("authority"),
            "--tls-auth-clients", wantsClients ? "yes" : "no", "--tls-protocols", protocols, "--bind", "127.0.0.1")
    }

    /// The address as a URL.
    package func url(_ query: String..., scheme: String = "rediss", host: String = "127.0.0.1") -> String {
        "\(scheme)://\(host):\(port)" + (query.isEmpty ? "" : "?" + query.joined(separator: "&"))
    }

    /// The address for a client that trusts the authority.
    package var address: RedisAddress {
        RedisAddress(
            .host("127.0.0.1", port: port), tls: RedisTLS(authorities: certificates.certificate("authority")))
    }
}
