public import FoundationEssentials

extension CurlClient {
    /// How a client connects, how long it waits and how much it takes.
    public struct Options: Sendable {
        /// How long opening a connection may take, name look-up and TLS included; 10 seconds by default.
        public var connectTimeout: Duration = .seconds(10)
        /// How long no byte may come while the reader waits for one; 10 seconds by default.
        public var stallTimeout: Duration = .seconds(10)
        /// How long a request may take from its start to the last byte of its body, the redirects that the client
        /// follows and a slow reader included, waiting for a free connection not; 60 seconds by default.
        public var totalTimeout: Duration = .seconds(60)
        /// How many transfers to one host, that is scheme, name and port, run at once; 6 by default. Over HTTP/2, where
        /// they share a connection, it is 100.
        public var maximumConnectionsPerHost = 6
        /// How many transfers run at once, and how many idle connections are kept; 64 by default.
        public var maximumConnections = 64
        /// How many bytes a body may have, declared or not, counted after decompression; 64,000,000 by default.
        public var maximumBodyBytes = 64_000_000
        /// Whether compressed bodies are asked for and decompressed (RFC 9110 section 8.4), which images gain nothing
        /// from; off by default. What comes decompressed has no `Content-Encoding` and no `Content-Length`.
        public var decompress = false
        /// Which addresses may be connected to; public ones by default.
        public var addresses = AddressPolicy.publicOnly
        /// The proxy, such as `http://proxy.example:3128`; none by default. The environment is not asked.
        public var proxy: URL?
        /// A file of the certificates, in PEM, that servers are trusted by; the system's by default.
        public var caFile: String?
        /// What the client shows servers that ask who it is; nothing by default.
        public var clientCertificate: ClientCertificate?
        /// Whether any server certificate will do. Off by default; on, it logs a warning: anyone on the way can read and
        /// change what is transferred.
        public var trustAnyCertificate = false
        /// The `User-Agent` field (RFC 9110 section 10.1.5) of requests that have none; empty for none at all.
        public var userAgent = "pipeline/0.1"

        /// The defaults.
        public init(addresses: AddressPolicy = .publicOnly) { self.addresses = addresses }
    }

    /// A client certificate (RFC 8446 section 4.4.2), with its key, in files.
    public struct ClientCertificate: Sendable {
        /// The certificate's file, in PEM.
        public var certificateFile: String
        /// The private key's file, in PEM; `nil` if it is in the certificate's.
        public var keyFile: String?
        /// What the key is encrypted with, if it is.
        public var password: String?

        /// Names the files.
        public init(certificateFile: String, keyFile: String? = nil, password: String? = nil) {
            self.certificateFile = certificateFile
            self.keyFile = keyFile
            self.password = password
        }
    }
}
