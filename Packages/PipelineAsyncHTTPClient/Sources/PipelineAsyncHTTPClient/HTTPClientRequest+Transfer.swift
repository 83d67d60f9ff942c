import AsyncHTTPClient
import FoundationEssentials
import HTTPTypes
import NIOHTTP1
import PipelineHTTP

extension HTTPClientRequest {
    /// Makes the message for a request, after checking what AsyncHTTPClient would take otherwise than `CurlClient`.
    init(_ request: TransferRequest, userAgent: String, _ failure: TransferFailure) throws {
        // AsyncHTTPClient also knows schemes that lead to Unix sockets.
        guard let scheme = request.url.scheme?.lowercased(), scheme == "http" || scheme == "https" else {
            throw failure.error(.unsupportedScheme, "can't be asked: only http and https can be fetched.")
        }
        guard request.addresses == nil || request.addresses == .any else {
            throw failure.error(
                .refused,
                "was not asked: AsyncHTTPClient can't keep to the addresses that the request allows. Use CurlClient.")
        }
        self.init(url: request.url.absoluteString)
        method = HTTPMethod(rawValue: request.method.rawValue)
        for field in request.headers {
            guard field.withUnsafeBytesOfValue({ $0.elementsEqual(field.value.utf8) && $0.allSatisfy(Self.mayBeSent) })
            else {
                throw failure.error(
                    .invalidHeader,
                    "was not asked: the value of \(field.name.rawName) has a control character or isn't UTF-8.")
            }
            headers.add(name: field.name.rawName, value: field.value)
        }
        if !userAgent.isEmpty, !request.headers.contains(.userAgent) {
            headers.add(name: "User-Agent", value: userAgent)
        }
        if let user = request.url.user(percentEncoded: false), !request.headers.contains(.authorization) {
            setBasicAuth(username: user, password: request.url.password(percentEncoded: false) ?? "")
        }
        body = request.body.map { .bytes($0) }
    }

    /// Whether a field's value may contain a byte (RFC 9110 section 5.5).
    private static func mayBeSent(_ byte: UInt8) -> Bool { byte >= 0x20 && byte != 0x7f || byte == 0x09 }
}
