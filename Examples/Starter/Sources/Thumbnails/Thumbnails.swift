import Hummingbird
import Stages

/// Serves `/thumbnail?url=https://example.com/photo.jpg&size=320` in the best format that the client accepts.
func thumbnails(_ loader: ImageLoader) -> Router<BasicRequestContext> {
    Router(options: .autoGenerateHeadEndpoints).get("thumbnail") { request, context in
        let encode = Encode(AcceptedFormats(accept: request.headers[.accept]))
        let list = loader.pipeline(for: .standard).encoding(encode, keptIn: loader.resources.responses)
        do {
            let source = try ImageSource(parsing: request.uri.queryParameters.require("url"))
            let size = PixelSize(square: min(2048, try request.uri.queryParameters.require("size", as: Int.self)))
            let response = try await request.body.consumeWithCancellationOnInboundClose { _ in
                try await loader.load(ImageRequest(source, maxPixelSize: size), through: list)
            }
            let (bytes, type) = (response.encoded?.bytes ?? [], response.mediaType ?? "")
            let seconds = max(0, Int(response.freshUntil?.timeIntervalSince(loader.resources.clock.now) ?? 0))
            let headers: HTTPFields = [.cacheControl: "max-age=\(seconds)", .vary: "Accept", .connection: "close"]
            let tag = "\"\(BLAKE2bDigest(of: bytes))\""
            return try await request.ifNoneMatch(headers: headers, eTag: tag, context: context) {
                Response(status: .ok, headers: [.contentType: type], body: .init(byteBuffer: ByteBuffer(bytes: bytes)))
            }
        } catch let error as LoadError {
            throw HTTPError(error.httpStatus == 404 ? 404 : statuses[error.code] ?? 500, message: error.message)
        }
    }
}

private let statuses: [LoadError.Code: HTTPResponse.Status] = [
    .invalidURL: 400, .unsupportedScheme: 400, .invalidSize: 400, .refused: 403, .unsupportedType: 415,
    .undecodable: 422, .tooManyBytes: 422, .tooManyPixels: 422, .tooMuchMemory: 422, .tooMuchTime: 422,
    .httpStatus: 502, .unreachable: 502, .malformedResponse: 502, .timedOut: 504,
]
