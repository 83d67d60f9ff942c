import CCurl
import Essentials
import Pipeline

/// libcurl's own description of a failure, in `LoadError.underlying`.
package struct CurlFailure: Error, CustomStringConvertible {
    /// The number of a `CURLcode`.
    let code: UInt32
    let text: String

    package var description: String { "libcurl error \(code): \(text)" }

    /// Whether another attempt would fail in the same way, since the server is at fault and not the network.
    private var isPermanent: Bool {
        switch CURLcode(rawValue: code) {
        case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_CIPHER,
            CURLE_USE_SSL_FAILED:
            true
        default: false
        }
    }
}

// The error messages: where, what happened, what to do.
extension CurlFailure {
    static func error(
        _ code: LoadError.Code, _ transfer: CurlTransfer, _ message: String, isPermanent: Bool = false,
        underlying: (any Error)? = nil
    ) -> LoadError {
        LoadError(
            code, subject: redactedURL(transfer.request.url.absoluteString), "\(transfer.target) \(message)",
            isPermanent: isPermanent, underlying: underlying)
    }

    static func shutDown(_ transfer: CurlTransfer) -> LoadError {
        error(.unreachable, transfer, "was not asked: the client has been shut down. Use another one.")
    }

    static func tooManyBytes(_ transfer: CurlTransfer, limit: Int, declared: Int?) -> LoadError {
        let found = declared.map { "declares \($0) bytes" } ?? "sends more than \(limit) bytes"
        return error(
            .tooManyBytes, transfer, "\(found), and \(limit) are allowed. Raise maximumBodyBytes if that is right.")
    }

    static func stalled(_ transfer: CurlTransfer, after time: Duration) -> LoadError {
        error(
            .timedOut, transfer,
            "sent nothing for \(time.secondsText). Try again later, or raise stallTimeout.")
    }

    static func overdue(_ transfer: CurlTransfer, after time: Duration) -> LoadError {
        error(
            .timedOut, transfer, "did not finish within \(time.secondsText). Try again later, or raise totalTimeout.")
    }

    static func malformed(_ transfer: CurlTransfer, _ what: String) -> LoadError {
        error(.malformedResponse, transfer, "broke HTTP's rules: \(what).")
    }

    /// The error for a transfer that libcurl gave up.
    func error(_ transfer: CurlTransfer, received: Int, connectTimeout: Duration, isConnected: Bool) -> LoadError {
        let said = text.last == "." ? String(text.dropLast()) : text
        let detail = said.isEmpty ? "" : " (\(said))"
        func error(_ code: LoadError.Code, _ message: String) -> LoadError {
            Self.error(code, transfer, message, isPermanent: isPermanent, underlying: self)
        }
        switch CURLcode(rawValue: code) {
        case CURLE_COULDNT_RESOLVE_HOST:
            return error(.unreachable, "can't be found: there is no address for this name. Check it and the network.")
        case CURLE_COULDNT_RESOLVE_PROXY:
            return error(.unreachable, "can't be reached: there is no address for the proxy's name. Check the proxy.")
        case CURLE_COULDNT_CONNECT:
            return error(.unreachable, "accepts no connection\(detail). Check that it runs and the network.")
        case CURLE_OPERATION_TIMEDOUT:
            return error(
                .timedOut,
                "did not answer within \(connectTimeout.secondsText). Check the network, or raise connectTimeout.")
        case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CONNECT_ERROR, CURLE_SSL_ISSUER_ERROR,
            CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_CIPHER, CURLE_USE_SSL_FAILED:
            return error(
                .unreachable,
                "can't be reached securely: TLS failed\(detail). If its certificate is signed by an authority of your "
                    + "own, name that in caFile.")
        case CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CERTPROBLEM:
            return error(
                .fileUnreadable,
                "was not asked: a certificate file can't be used\(detail). Check caFile and clientCertificate.")
        case CURLE_GOT_NOTHING:
            return error(.unreachable, "closed the connection without a response. Try again later.")
        case CURLE_PARTIAL_FILE:
            return error(
                .unreachable,
                "closed the connection after \(received) bytes, before the body's end\(detail). Try again.")
        case CURLE_RECV_ERROR where text.contains("chunked-encoding"),
            CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY, CURLE_BAD_CONTENT_ENCODING:
            return Self.malformed(transfer, said.isEmpty ? "its response can't be read" : said)
        case CURLE_OUT_OF_MEMORY where isConnected && received == 0:
            // What libcurl says of a field of more than 100 KB.
            return Self.malformed(transfer, "its header has a field that is too large")
        case CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_HTTP2, CURLE_HTTP2_STREAM:
            return error(.unreachable, "broke the connection\(detail). Try again.")
        case CURLE_URL_MALFORMAT:
            return error(.invalidURL, "can't be asked: libcurl can't read the URL\(detail).")
        default:
            return error(.unreachable, "can't be loaded from\(detail).")
        }
    }
}

extension Duration {
    /// `10 s` or `0.25 s`.
    fileprivate var secondsText: String {
        let milliseconds = attoseconds / 1_000_000_000_000_000
        guard milliseconds % 1000 != 0 else { return "\(milliseconds / 1000) s" }
        let fraction = String(String(1000 + milliseconds % 1000).dropFirst())
        return "\(milliseconds / 1000)." + fraction.trimmingZeros + " s"
    }
}

extension String {
    fileprivate var trimmingZeros: String {
        var text = self
        while text.last == "0" { text.removeLast() }
        return text
    }
}
