import Essentials
import HTTPTypes
import Pipeline

extension TransferRequest {
    /// Checks for fields that would break the request apart on the wire or make the server misread it.
    /// - Throws: `LoadError` with the code `invalidHeader`.
    func check() throws {
        for field in headers {
            if let problem = problem(of: field) {
                throw LoadError(
                    .invalidHeader, subject: redactedURL(url.absoluteString),
                    "The field \(field.name.rawName) can't be sent: \(problem).")
            }
        }
    }

    /// Whether a field's value may contain a byte (RFC 9110 section 5.5).
    static func mayBeSent(_ byte: UInt8) -> Bool { byte >= 0x20 && byte != 0x7f || byte == 0x09 }

    private func problem(of field: HTTPField) -> String? {
        let isClean = field.withUnsafeBytesOfValue { $0.allSatisfy(Self.mayBeSent) }
        guard isClean else { return "its value has a line break or another control character (RFC 9110 section 5.5)" }
        switch field.name {
        case .transferEncoding: return "the client decides how the content is framed; leave it out"
        case .contentLength where field.value != "\(body?.count ?? 0)":
            return "its value is not the content's length; leave it out"
        default: return nil
        }
    }
}
