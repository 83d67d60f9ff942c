public import HTTPTypes
public import Pipeline
import PipelineImages

/// An error as a client gets it: a status, and a problem document that says what to do (RFC 9457).
public struct Problem: Error, Sendable {
    /// The status of the response.
    public let status: HTTPResponse.Status
    /// What happened and what to do, for people. It is written for strangers: no text of a file, of an origin or of the
    /// library gets into it.
    public let detail: String
    /// What happened, for the log alone.
    public var cause: String?
    /// How long the client should wait before it asks again.
    public var retryAfter: Duration?

    /// Makes a problem; its cause may be set later.
    public init(_ status: HTTPResponse.Status, _ detail: String, retryAfter: Duration? = nil) {
        self.status = status
        self.detail = detail
        self.retryAfter = retryAfter
    }

    /// The document (RFC 9457). Its `type` is left out, which means that the status says it all.
    /// - Parameter id: The request's, by which its line in the log is found.
    public func json(id: String? = nil) -> String {
        let instance = id.map { ",\"instance\":\"urn:request:\($0)\"" } ?? ""
        return "{\"title\":\(status.reasonPhrase.jsonText),\"status\":\(status.code),\"detail\":\(detail.jsonText)"
            + instance + "}"
    }
}

extension Problem {
    /// Makes the problem that a failed load is for the client.
    public init(_ error: LoadError) {
        let (status, detail) = Self.answer(to: error)
        self.init(status, detail, retryAfter: error.retryAfter)
        cause = "\(error)"
    }

    private static func answer(to error: LoadError) -> (HTTPResponse.Status, String) {
        switch error.code {
        case .invalidURL, .unsupportedScheme, .invalidHeader:
            (.badRequest, "The source is not a URL that can be asked.")
        case .untransformable:
            (
                .badRequest,
                "The picture can't be made so: the region is outside of it, or the size is one that isn't allowed."
            )
        case .refused where error.httpStatus != nil: (.badGateway, "The origin redirects too often.")
        case .refused: (.forbidden, "The source is not one that this server may load.")
        case .fileNotFound, .fileUnreadable: (.notFound, "There is no such picture.")
        case .tooManyBytes: (.contentTooLarge, "The source has more bytes than this server accepts.")
        case .unsupportedType:
            (.unsupportedMediaType, "The source is not a picture in a format that this server reads.")
        case .undecodable: (.unprocessableContent, "The source is damaged, or is not a picture.")
        case .tooManyPixels: (.unprocessableContent, "The source has more pixels than this server accepts.")
        case .tooMuchMemory: (.unprocessableContent, "The picture needs more memory than this server gives one.")
        case .tooMuchTime: (.unprocessableContent, "The picture takes longer than this server gives one.")
        case .unencodable:
            (.unprocessableContent, "The picture can't be written in this format and with these options.")
        case .unsupportedLayout: (.unprocessableContent, "The pixels of the source have a layout without support.")
        case .busy: (.serviceUnavailable, "The server has as much work as it can take. Ask again in a second.")
        case .timedOut, .notCached: (.gatewayTimeout, "The origin of the source didn't answer in time.")
        case .httpStatus: answer(to: error.httpStatus)
        case .unreachable, .malformedResponse:
            (.badGateway, "The origin of the source can't be reached, or its response can't be read.")
        default: (.internalServerError, "The picture couldn't be made. The server's log says why.")
        }
    }

    /// The answer to a status of the origin.
    private static func answer(to status: Int?) -> (HTTPResponse.Status, String) {
        switch status {
        case 404, 410: (.notFound, "The origin has no such picture.")
        case 401, 403: (.forbidden, "The origin doesn't give this picture to the server.")
        case 429, 503: (.serviceUnavailable, "The origin of the source has too much work.")
        default: (.badGateway, "The origin of the source answers with an error.")
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
