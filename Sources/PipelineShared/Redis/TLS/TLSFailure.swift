import CTLS
import LibC
import Pipeline

/// Why a TLS session failed, and what to do.
struct TLSFailure: Hashable, CustomStringConvertible {
    /// What was found about the server's certificate: one of `X509_V_ERR…`, or `X509_V_OK`.
    var verification: Int32 = X509_V_OK
    /// OpenSSL's error; 0 if the connection failed below TLS.
    var error: UInt = 0
    /// The system's error; 0 if the server has closed the connection.
    var systemError: Int32 = 0
    /// Whether the handshake wasn't over.
    var isShakingHands = true
    /// Whether this client has a certificate to show.
    var hasCertificate = false

    var description: String {
        if isShakingHands, verification != X509_V_OK { return aboutCertificate }
        if error == 0 {
            if systemError == 0 { return closed }
            return String(cString: strerror(systemError)) + (isShakingHands ? Self.plain : "")
        }
        switch ERR_GET_LIB(error) == ERR_LIB_SSL ? ERR_GET_REASON(error) : 0 {
        case SSL_R_UNEXPECTED_EOF_WHILE_READING: return closed
        case SSL_R_WRONG_VERSION_NUMBER, SSL_R_PACKET_LENGTH_TOO_LONG, SSL_R_HTTP_REQUEST, SSL_R_BAD_RECORD_TYPE:
            return "its reply isn't TLS" + Self.plain
        case SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED:
            return "it requires a client certificate. Give one" + Self.parameters
        case SSL_R_SSLV3_ALERT_HANDSHAKE_FAILURE where !hasCertificate:
            return "it refuses the TLS handshake. If it requires a client certificate, give one" + Self.parameters
        case SSL_R_TLSV1_ALERT_UNKNOWN_CA, SSL_R_SSLV3_ALERT_BAD_CERTIFICATE, SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED,
            SSL_R_SSLV3_ALERT_CERTIFICATE_REVOKED, SSL_R_SSLV3_ALERT_CERTIFICATE_UNKNOWN,
            SSL_R_SSLV3_ALERT_UNSUPPORTED_CERTIFICATE, SSL_R_TLSV1_ALERT_ACCESS_DENIED:
            return "it refuses this client's certificate (\(text)). Give one of an authority that it trusts"
                + Self.parameters
        case SSL_R_TLSV1_ALERT_PROTOCOL_VERSION, SSL_R_UNSUPPORTED_PROTOCOL:
            return "it has no TLS 1.2 or later. Allow that on the server"
        default: return "TLS failed: \(text)"
        }
    }

    private var closed: String {
        let text = "the server closed the connection"
        return isShakingHands ? text + " during the TLS handshake" + Self.plain : text
    }

    private var aboutCertificate: String {
        switch verification {
        case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY,
            X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN, X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT,
            X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE, X509_V_ERR_CERT_SIGNATURE_FAILURE:
            "its certificate is from an authority that isn't trusted. Name the file of that authority's certificate by ?ca=PATH"
        case X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH:
            "its certificate is for another name. Write a name that it has as the host, or by ?server-name=NAME"
        case X509_V_ERR_CERT_HAS_EXPIRED:
            "its certificate has expired. Renew it, or correct this machine's clock"
        case X509_V_ERR_CERT_NOT_YET_VALID:
            "its certificate isn't valid yet. Correct this machine's clock, or the server's certificate"
        default:
            "its certificate is refused: \(String(cString: X509_verify_cert_error_string(Int(verification))))"
        }
    }

    /// OpenSSL's text for its error.
    private var text: String { ERR_reason_error_string(error).map { String(cString: $0) } ?? "error \(error)" }

    /// What a server that says nothing in the handshake may be.
    static let silent = "it doesn't reply in the TLS handshake" + plain

    private static let plain = ". If its port isn't for TLS, write redis://"
    private static let parameters = " by ?cert=PATH&key=PATH"
}
