public import AsyncHTTPClient
import NIOCore

extension HTTPClient.Configuration {
    /// The configuration for an ``AsyncHTTPTransferClient``: redirects are returned and bodies stay compressed.
    ///
    /// Connecting and each wait for bytes may take 10 seconds. A host that accepts no connection fails at once, so that a
    /// stale image can stand in; `Retry` repeats requests. Change anything else, such as TLS, the proxy or the pool.
    public static var transfers: HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration(
            redirectConfiguration: .disallow, timeout: Timeout(connect: .seconds(10), read: .seconds(10)),
            decompression: .disabled)
        configuration.connectionPool.retryConnectionEstablishment = false
        return configuration
    }
}
