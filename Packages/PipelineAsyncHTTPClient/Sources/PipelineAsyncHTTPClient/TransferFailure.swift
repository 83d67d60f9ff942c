import AsyncHTTPClient
import FoundationEssentials
import NIOHTTP1
import NIOSSL
import Pipeline

/// The errors of a transfer: where, what happened, what to do. Their codes are those that `CurlClient` has for the same
/// failures, so that `Retry` and `StaleIfError` treat both clients alike.
struct TransferFailure: Sendable {
    private let url: URL

    init(_ url: URL) { self.url = url }

    func error(
        _ code: LoadError.Code, _ message: String, isPermanent: Bool = false, underlying: (any Error)? = nil
    ) -> LoadError {
        let port = url.port ?? (url.scheme?.lowercased() == "https" ? 443 : 80)
        return LoadError(
            code, subject: ImageSource(url).redacted, "\(url.host() ?? "The server"):\(port) \(message)",
            isPermanent: isPermanent, underlying: underlying)
    }

    func shutDown() -> LoadError {
        error(.unreachable, "can't be asked: the client has been shut down. Use another one.")
    }

    func overdue(after time: Duration) -> LoadError {
        error(.timedOut, "did not finish within \(time). Try again later, or raise totalTimeout.")
    }

    func tooManyBytes(limit: Int, declared: Int?) -> LoadError {
        let found = declared.map { "declares \($0) bytes" } ?? "sends more than \(limit) bytes"
        return error(.tooManyBytes, "\(found), and \(limit) are allowed. Raise maximumBodyBytes if that is right.")
    }

    func followedRedirect() -> LoadError {
        error(
            .refused,
            "sent a redirect, which the HTTPClient followed without asking whether it may. Make it with "
                + "HTTPClient.Configuration.transfers.")
    }

    func decompressed() -> LoadError {
        error(
            .refused,
            "sent a body that the HTTPClient has decompressed, though its fields say otherwise. Make it with "
                + "HTTPClient.Configuration.transfers.")
    }

    /// The error for one that AsyncHTTPClient or NIO threw.
    func error(for error: any Error) -> LoadError {
        func failed(_ code: LoadError.Code, _ message: String, isPermanent: Bool = false) -> LoadError {
            self.error(code, message, isPermanent: isPermanent, underlying: error)
        }
        switch error {
        case let error as LoadError: return error
        // The reader's own cancellation has ended the transfer before.
        case is CancellationError: return shutDown()
        case let error as HTTPClientError where [.cancelled, .alreadyShutdown].contains(error): return shutDown()
        case let error as HTTPClientError where Self.timeouts.contains(error):
            return failed(
                .timedOut, "took too long (\(error.shortDescription)). Try again later, or raise the timeout.")
        case let error as HTTPClientError where [.invalidURL, .emptyHost].contains(error):
            return failed(.invalidURL, "can't be asked: AsyncHTTPClient can't read the URL.")
        case HTTPParserError.invalidEOFState, HTTPParserError.closedConnection:
            return failed(.unreachable, "closed the connection before the response's end. Try again.")
        case is HTTPParserError:
            return failed(.malformedResponse, "broke HTTP's rules (\(error)).")
        case is NIOSSLError, is NIOSSLExtraError:
            return failed(
                .unreachable, "can't be reached securely: TLS failed (\(error)). Check its certificate.",
                isPermanent: isUntrusted(error))
        default:
            return failed(.unreachable, "can't be reached (\(error)). Check that it runs and the network.")
        }
    }

    private static let timeouts: [HTTPClientError] = [
        .connectTimeout, .readTimeout, .writeTimeout, .deadlineExceeded, .tlsHandshakeTimeout,
        .httpProxyHandshakeTimeout,
        .socksHandshakeTimeout, .getConnectionFromPoolTimeout,
    ]

    /// Whether another attempt would meet the same certificate. NIOSSL tells that by the texts of BoringSSL alone.
    private func isUntrusted(_ error: any Error) -> Bool {
        error is NIOSSLExtraError || "\(error)".contains("CERTIFICATE_VERIFY_FAILED")
    }
}
