import Foundation
import HTTPTypes
import Pipeline
import Stages

/// Serves thumbnails of an origin's images, in the best format for the client.
///
/// A thumbnail that was made once comes from memory, or after a restart from disk, without decoding anything. It is
/// valid for as long as the origin says about its image.
struct ThumbnailService: Sendable {
    /// The response to a client.
    struct Answer: Sendable {
        let status: Int
        var headers: HTTPFields = [:]
        var body: [UInt8] = []
    }

    /// The lists by the formats of opaque and of transparent images.
    private let lists: [[ImageFormat]: ImagePipeline]
    private let origin: URL

    /// Serves the images of an origin.
    init(_ resources: PipelineResources, origin: URL) {
        var resources = resources
        // Whatever a client asks for, no file of this machine is read.
        resources.allowedSources = .remote
        lists = Self.lists(resources)
        self.origin = origin
    }

    /// Makes a list for each pair of formats that clients prefer. The lists are kept, since making them for each request
    /// takes time.
    private static func lists(_ resources: PipelineResources) -> [[ImageFormat]: ImagePipeline] {
        var lists: [[ImageFormat]: ImagePipeline] = [:]
        let formats = [ImageFormat.avif, .webp, .jpeg, .png]
        for pair in formats.flatMap({ opaque in formats.map { [opaque, $0] } }) {
            let accepted = AcceptedFormats(accept: "\(pair[0]), \(pair[1]);q=0.5")
            lists[pair] = ImagePipeline.returnCacheElseLoad(resources)
                .encoding(Encode(accepted, options: EncodeOptions(quality: 75)), keptIn: resources.responses)
        }
        return lists
    }

    /// Answers `GET /path?width=…` of a client with this Accept field.
    func answer(path: String, width: Int, accept: String?) async throws -> Answer {
        // Only a few widths, so that clients can't request any number of results.
        guard let width = [160, 320, 640, 1280].first(where: { $0 >= width }) else { return Answer(status: 400) }
        let accepted = AcceptedFormats(accept: accept)
        let pair = [false, true].map { accepted.best(hasAlpha: $0, isAnimated: false) }
        guard let pipeline = lists[pair] else { return Answer(status: 500) }
        do {
            let request = ImageRequest(
                origin.appending(path: path), maxPixelSize: PixelSize(width: width, height: 4096))
            let response = try await pipeline.load(request)
            guard let image = response.encoded, let type = image.declaredType else { return Answer(status: 500) }
            // Caches on the way must know that the bytes depend on the client's Accept field.
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
