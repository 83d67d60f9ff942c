import FoundationEssentials
import HTTPTypes
import Hummingbird
import Stages

/// Loads what a path asks for, and makes the reply.
struct Pictures: Sendable {
    /// The latest requests, for the gallery.
    let recent = RecentRequests()
    private let isRecording: Bool
    private let loader: ImageLoader
    private let lists: PictureLists
    private let sources: SourcePolicy
    private let maxAge: Int

    init(_ settings: Settings, loader: ImageLoader, queue: WorkQueue) throws {
        self.loader = loader
        isRecording = settings.gallery
        lists = PictureLists(loader.resources, queue: queue, quality: settings.quality)
        sources = SourcePolicy(folder: settings.folder, origins: try settings.allowedOrigins())
        maxAge = settings.maxAge
    }

    /// Makes the reply to a request.
    /// - Throws: `Problem`, `LoadError` or `CancellationError`.
    func reply(to request: Request, _ wanted: SignedPaths.Wanted) async throws -> Reply {
        switch wanted {
        case .picture(let picture): return try await reply(to: request, picture).reply
        case .tile(let picture, let base, let parts):
            var (reply, response) = try await reply(to: request, picture)
            reply.fields[.link] = "<http://iiif.io/api/image/3/level2.json>;rel=\"profile\""
            if let native = response.nativeSize, let canonical = IIIFCanonical(parts, turned: native) {
                reply.fields[.link]? += ", <\(base)/\(canonical.path)>;rel=\"canonical\""
            }
            return reply
        case .info(let source, let base): return try await info(of: source, base, request)
        case .redirect(let location):
            var reply = Reply([], type: "text/plain")
            reply.status = .seeOther
            reply.fields[.location] = location
            return reply
        }
    }

    private func reply(
        to request: Request, _ picture: PictureRequest
    ) async throws -> (reply: Reply, response: LoadResponse) {
        let list = try lists.list(for: picture, accept: request.headers[.accept])
        let response = try await load(picture.source, list, request)
        guard let image = response.encoded, let type = image.declaredType else {
            throw Problem(.internalServerError, "The list ended without a file.")
        }
        var reply = Reply(image.bytes, type: type)
        var varies = picture.format == nil ? ["Accept"] : []
        if picture.hints != nil { varies.append(ClientHints.names) }
        if !varies.isEmpty { reply.fields[.vary] = varies.joined(separator: ", ") }
        reply.fields[.contentDisposition] = Self.disposition(of: picture, type)
        describe(&reply, response)
        return (reply, response)
    }

    private func info(of source: String, _ base: String, _ request: Request) async throws -> Reply {
        let response = try await load(source, lists.listOfSize(), request)
        guard let size = response.nativeSize else { throw Problem(.internalServerError, "The size is unknown.") }
        let isLinked = request.headers[.accept]?.contains("application/ld+json") == true
        let linked = "application/ld+json;profile=\"http://iiif.io/api/image/3/context.json\""
        var reply = Reply(IIIFInfo(id: base, size: size).json, type: isLinked ? linked : "application/json")
        reply.fields[.vary] = "Accept"
        describe(&reply, response)
        return reply
    }

    /// The ThumbHash of a source, and its size in pixels.
    func hash(of source: String) async throws -> (hash: [UInt8], size: PixelSize?) {
        let response = try await loader.load(
            ImageRequest(try sources.source(source), expiry: expiry), through: lists.listOfHash())
        return (response.encoded?.bytes ?? [], response.nativeSize)
    }

    private var expiry: Expiry { .server(otherwise: .seconds(maxAge)) }

    private func load(_ name: String, _ list: ImagePipeline, _ request: Request) async throws -> LoadResponse {
        let source = try sources.source(name)
        let shown = name.prefix { $0 != "?" }
        do {
            let response = try await loader.load(
                ImageRequest(source, expiry: expiry, priority: LoadPriority(request.headers[.priority])), through: list)
            if isRecording {
                recent.add(
                    name: String(shown), status: 200, source: response.source.rawValue, trace: response.trace)
            }
            return response
        } catch let error as LoadError {
            if isRecording {
                recent.add(
                    name: String(shown), status: Problem(error).status.code, source: "none", trace: error.trace)
            }
            throw error
        }
    }

    /// Writes what a result says of itself: its tag, how long it may be kept, its age, and where its time went.
    private func describe(_ reply: inout Reply, _ response: LoadResponse) {
        let now = loader.resources.clock.now
        let age = response.confirmedAt.map { max(0, Int(now.timeIntervalSince($0))) }
        if let end = response.freshUntil {
            let left = Int(end.timeIntervalSince(now))
            // Caches count a lifetime from the moment that the origin was asked, of which Age tells them.
            let lifetime = min(max(0, left) + (age ?? 0), 31_536_000)
            reply.fields[.cacheControl] = left > 0 ? "max-age=\(lifetime)" : "private, no-cache"
        } else {
            reply.fields[.cacheControl] = "max-age=\(maxAge)"
        }
        if let age { reply.fields[.age] = "\(age)" }
        reply.fields[.serverTiming] = response.trace.serverTiming
        reply.tag()
    }

    /// `inline` or `attachment`, with the source's name and the result's extension (RFC 6266).
    private static func disposition(of picture: PictureRequest, _ type: String) -> String {
        let last = picture.source.prefix { $0 != "?" }.split(separator: "/").last ?? "image"
        let end = ImageCodecs.standard.codec(for: ImageFormat(rawValue: type))?.extensions.first ?? ""
        let name = picture.fileName ?? last.prefix { $0 != "." } + "." + end
        let isPlain = name.utf8.allSatisfy {
            $0 >= 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\")
        }
        let field = isPlain ? "filename=\"\(name)\"" : "filename*=UTF-8''\(name.percentEncoded)"
        return (picture.isAttachment ? "attachment; " : "inline; ") + field
    }
}

extension LoadPriority {
    /// Reads the urgency of a `Priority` field, from 0 to 7, by default 3 (RFC 9218 section 4.1).
    init(_ field: String?) {
        let members = (field ?? "").split(separator: ",").map { $0.filter { !$0.isWhitespace } }
        let urgency = members.last { $0.hasPrefix("u=") }?.dropFirst(2).plainNumber
        self =
            switch urgency ?? 3 {
            case 0, 1: .veryHigh
            case 2: .high
            case 3: .normal
            case 4, 5: .low
            default: .veryLow
            }
    }
}

extension HTTPField.Name {
    fileprivate static let serverTiming = name("Server-Timing")
    fileprivate static let link = name("Link")
    fileprivate static let priority = name("Priority")
}
