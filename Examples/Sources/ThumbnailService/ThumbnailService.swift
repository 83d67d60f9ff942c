import Foundation
import HTTPTypes
import Pipeline
import Stages

/// Answers requests for thumbnails of an origin's images, in the format that suits the client.
///
/// What was made once is answered from memory, and after a new start from disk, without decoding anything; how long it
/// holds is what the origin says of its image.
struct ThumbnailService: Sendable {
    /// What a server sends back.
    struct Answer: Sendable {
        let status: Int
        var headers: HTTPFields = [:]
        var body: [UInt8] = []
    }

    private let lists: [ImageFormat: ImagePipeline]
    private let origin: URL

    /// Serves the images of an origin.
    init(_ resources: PipelineResources, origin: URL) {
        var resources = resources
        // Whatever a client asks for, no file of this machine is read.
        resources.allowedSources = .remote
        lists = Self.lists(resources)
        self.origin = origin
    }

    /// A list for each format that clients prefer. Lists are kept, not made for each request.
    private static func lists(_ resources: PipelineResources) -> [ImageFormat: ImagePipeline] {
        var lists: [ImageFormat: ImagePipeline] = [:]
        for format in [ImageFormat.avif, .webp, .jpeg, .png] {
            let formats = AcceptedFormats(accept: "\(format.rawValue), */*;q=0.5")
            lists[format] = ImagePipeline.returnCacheElseLoad(resources)
                .encoding(Encode(formats, options: EncodeOptions(quality: 75)), keptIn: resources.responses)
        }
        return lists
    }

    /// Answers `GET /path?width=…` of a client with this Accept field.
    func answer(path: String, width: Int, accept: String?) async throws -> Answer {
        // Few widths, so that no client can have any number of results made.
        guard let width = [160, 320, 640, 1280].first(where: { $0 >= width }) else { return Answer(status: 400) }
        let format = AcceptedFormats(accept: accept).best(hasAlpha: false, isAnimated: false)
        guard let pipeline = lists[format] else { return Answer(status: 500) }
        do {
            let request = ImageRequest(
                origin.appending(path: path), maxPixelSize: PixelSize(width: width, height: 4096))
            let response = try await pipeline.load(request)
            guard let image = response.encoded, let type = image.declaredType else { return Answer(status: 500) }
            // The bytes depend on the client's Accept field: caches on the way have to know.
            var headers: HTTPFields = [.contentType: type, .vary: "Accept"]
            headers[.eTag] = response.validator.map { "\"\($0)\"" }
            if let end = response.freshUntil {
                headers[.cacheControl] = "max-age=\(Int(min(max(0, end.timeIntervalSinceNow), 31_536_000)))"
            }
            return Answer(status: 200, headers: headers, body: image.bytes)
        } catch let error as LoadError {
            return Answer(status: error.httpStatus == 404 ? 404 : 502)
        }
    }
}
