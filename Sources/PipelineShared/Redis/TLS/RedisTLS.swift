/// How a connection to a Redis server is encrypted: by TLS 1.2 or later. The server's certificate is always verified.
///
/// The files are in PEM, and are read for each connection.
package struct RedisTLS: Sendable, Hashable {
    /// The file with the certificates of the authorities to trust; `nil` for those of the system.
    package var authorities: String?
    /// The file with this client's certificate, and those that lead to its authority; `nil` for none.
    package var certificate: String?
    /// The file with the private key of the certificate, without a passphrase; `nil` if it is in the certificate's file.
    package var key: String?
    /// The name or address that the server's certificate must have; `nil` for the host.
    package var serverName: String?

    /// Describes TLS.
    package init(
        authorities: String? = nil, certificate: String? = nil, key: String? = nil, serverName: String? = nil
    ) {
        self.authorities = authorities
        self.certificate = certificate
        self.key = key
        self.serverName = serverName
    }
}
