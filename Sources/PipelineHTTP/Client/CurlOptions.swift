public import Essentials

extension CurlClient {
    /// How a client connects, how long it waits and how much it accepts.
    public struct Options: Sendable {
        /// How long opening a connection may take, name look-up and TLS included; 10 seconds by default.
        public var connectTimeout: Duration = .seconds(10)
        /// How long the reader may wait for the next byte; 10 seconds by default.
        public var stallTimeout: Duration = .seconds(10)
        /// How long a request may take from its start to the last byte of its body; 60 seconds by default. This
        /// includes redirects that the client follows and a slow reader, but not the wait for a free connection.
        public var totalTimeout: Duration = .seconds(60)
        /// How many transfers to one host (scheme, name and port) run concurrently; 6 by default. Over HTTP/2, where
        /// they share a connection, up to 100 run.
        public var maximumConnectionsPerHost = 6
        /// How many transfers run concurrently, and how many idle connections are kept; 64 by default.
        public var maximumConnections = 64
        /// How many bytes a body may have, declared or not, counted after decompression; 64,000,000 by default.
        public var maximumBodyBytes = 64_000_000
        /// Whether to request compressed bodies and decompress them (RFC 9110 section 8.4); off by default, since
        /// images gain nothing. A decompressed response has no `Content-Encoding` and no `Content-Length`.
        public var decompress = false
        /// The addresses that may be connected to; public ones by default.
        public var addresses = AddressPolicy.publicOnly
        /// Decides whether a URL may be asked; with `nil`, the default, any may. It is called for every request before
        /// anything is sent, those that follow redirects included, so no server can lead the client elsewhere. Caches
        /// call it before they follow a stored redirect. It must return quickly.
        public var allows: (@Sendable (URL) -> Bool)?
        /// The proxy, such as `http://proxy.example:3128`; none by default. The environment is not read. A connection
        /// to it is kept for further requests to the same origin, and closed for a request to another one.
        public var proxy: URL?
        /// A PEM file of the certificate authorities to trust; the system's by default.
        public var caFile: String?
        /// The certificate for servers that require one; none by default.
        public var clientCertificate: ClientCertificate?
        /// Whether to accept any server certificate. Off by default; on, it logs a warning: anyone on the network path
        /// can read and change transfers.
        public var trustAnyCertificate = false
        /// The `User-Agent` field (RFC 9110 section 10.1.5) of requests that have none; empty to send none.
        public var userAgent = "pipeline/0.1"

        /// The defaults.
        public init(addresses: AddressPolicy = .publicOnly) { self.addresses = addresses }

        /// What is known of a URL before anything is sent; `nil` if any may be asked.
        var urlRule: (@Sendable (URL) -> Bool)? {
            // Behind a proxy only the proxy's address counts.
            let addresses = proxy == nil && addresses != .any ? addresses : nil
            guard allows != nil || addresses != nil else { return nil }
            return { [allows] url in
                guard allows?(url) ?? true else { return false }
                guard let addresses, let host = try? CurlURL(url).host, let address = Address(host) else { return true }
                return addresses.refusal(of: address, host: host) == nil
            }
        }
    }

    /// A client certificate (RFC 8446 section 4.4.2), with its key, in files.
    public struct ClientCertificate: Sendable {
        /// The certificate's file, in PEM.
        public var certificateFile: String
        /// The private key's file, in PEM; `nil` if it is in the certificate's.
        public var keyFile: String?
        /// The password of the key, if it is encrypted.
        public var password: String?

        /// Names the files.
        public init(certificateFile: String, keyFile: String? = nil, password: String? = nil) {
            self.certificateFile = certificateFile
            self.keyFile = keyFile
            self.password = password
        }
    }
}
