import HTTPTypes
import Stages

/// An error as a client gets it: a status, and a problem document that says what to do (RFC 9457).
struct Problem: Error, Sendable {
    let status: HTTPResponse.Status
    /// What happened and what to do, for people.
    let detail: String
    /// How long the client should wait before it asks again.
    var retryAfter: Duration?

    init(_ status: HTTPResponse.Status, _ detail: String, retryAfter: Duration? = nil) {
        self.status = status
        self.detail = detail
        self.retryAfter = retryAfter
    }

    /// The document. Its `type` is left out, which means that the status says it all.
    var json: String {
        "{\"title\":\(status.reasonPhrase.jsonText),\"status\":\(status.code),\"detail\":\(detail.jsonText)}"
    }
}

extension Problem {
    /// Makes the problem that a failed load is for the client. Its text names no file: the folder's path is nobody else's
    /// business.
    init(_ error: LoadError) {
        self.init(Self.status(of: error), error.message, retryAfter: error.retryAfter)
    }

    private static func status(of error: LoadError) -> HTTPResponse.Status {
        switch error.code {
        case .invalidURL, .unsupportedScheme, .invalidHeader, .untransformable: .badRequest
        case .refused: .forbidden
        case .fileNotFound, .fileUnreadable: .notFound
        case .tooManyBytes: .contentTooLarge
        case .unsupportedType: .unsupportedMediaType
        case .undecodable, .tooManyPixels, .tooMuchMemory, .tooMuchTime, .unencodable, .unsupportedLayout:
            .unprocessableContent
        case .busy: .serviceUnavailable
        case .timedOut, .notCached: .gatewayTimeout
        case .httpStatus:
            switch error.httpStatus {
            case 404, 410: .notFound
            case 401, 403: .forbidden
            case 429, 503: .serviceUnavailable
            default: .badGateway
            }
        case .unreachable, .malformedResponse: .badGateway
        default: .internalServerError
        }
    }
}

extension String {
    /// The text as a JSON string (RFC 8259 section 7).
    var jsonText: String {
        var text = "\""
        for scalar in unicodeScalars {
            switch scalar {
            case "\"", "\\": text += "\\\(scalar)"
            case _ where scalar.value < 0x20:
                text += "\\u00" + (scalar.value < 16 ? "0" : "") + String(scalar.value, radix: 16)
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text + "\""
    }
}
