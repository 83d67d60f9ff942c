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

    private let resources: PipelineResources
    private let origin: URL

    /// Serves the images of an origin.
    init(_ resources: PipelineResources, origin: URL) {
        self.resources = resources
        self.origin = origin
    }

    /// Answers `GET /path?width=…` of a client with this Accept field.
    func answer(path: String, width: Int, accept: String?) async throws -> Answer {
        // Few widths, so that no client can have any number of results made.
        guard let width = [160, 320, 640, 1280].first(where: { $0 >= width }) else { return Answer(status: 400) }
        let formats = AcceptedFormats(accept: accept)
        let pipeline = ImagePipeline.returnCacheElseLoad(resources)
            .encoding(Encode(formats, options: EncodeOptions(quality: 75)), keptIn: resources.responses)
        do {
            let request = ImageRequest(
                origin.appending(path: path), maxPixelSize: PixelSize(width: width, height: 4096))
            let response = try await pipeline.load(request)
            guard let image = response.encoded, let type = image.declaredType else { return Answer(status: 500) }
            // The bytes depend on the client's Accept field: caches on the way have to know.
            return Answer(status: 200, headers: [.contentType: type, .vary: "Accept"], body: image.bytes)
        } catch let error as LoadError {
            return Answer(status: error.httpStatus == 404 ? 404 : 502)
        }
    }
}
