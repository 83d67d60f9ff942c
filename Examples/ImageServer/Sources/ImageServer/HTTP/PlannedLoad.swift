import HTTPTypes
import Stages
import Synchronization

/// What to load for a path, and what its reply says.
final class PlannedLoad: Sendable {
    private enum Kind: Sendable {
        case picture
        /// By the IIIF Image API, with the address of the source and the rest of the path.
        case tile(base: String, parts: [Substring])
        /// The description of the source at an address.
        case description(base: String, longestSide: Int)
    }

    /// The source as the path names it, without query values.
    let name: String
    let request: ImageRequest
    let list: ImagePipeline
    /// When the path stops being valid, in seconds since 1970; `nil` for never.
    let expires: Int?
    private let kind: Kind
    private let picture: PictureRequest?
    private let fields: HTTPFields
    private let latest = Mutex<Reply?>(nil)
    private let answers = Atomic<Bool>(false)
    /// The most bytes of a body that is kept. All plans together keep 64 MB that memory may have evicted.
    private static let maximumKept = 65_536

    /// Plans the load of a picture. Its reply has these fields among others.
    init(
        _ picture: PictureRequest, canonical: (base: String, parts: [Substring])?, _ fields: HTTPFields,
        _ request: ImageRequest, _ list: ImagePipeline
    ) {
        name = String(picture.source.prefix { $0 != "?" })
        self.picture = picture
        self.request = request
        self.list = list
        expires = picture.expires
        kind = canonical.map { .tile(base: $0.base, parts: $0.parts) } ?? .picture
        var fields = fields
        // A picture that is opened as a page runs nothing, whatever its bytes are.
        fields[.contentSecurityPolicy] = "default-src 'none'; sandbox"
        var varies = picture.format == nil ? ["Accept"] : []
        if picture.hints != nil { varies.append(ClientHints.names) }
        if !varies.isEmpty { fields[.vary] = varies.joined(separator: ", ") }
        self.fields = fields
    }

    /// Plans the load of a source's description.
    init(
        description source: String, _ base: String, longestSide: Int, asLinkedData isLinked: Bool,
        _ fields: HTTPFields, _ request: ImageRequest, _ list: ImagePipeline
    ) {
        name = String(source.prefix { $0 != "?" })
        self.request = request
        self.list = list
        (picture, expires, kind) = (nil, nil, .description(base: base, longestSide: longestSide))
        let linked = "application/ld+json;profile=\"http://iiif.io/api/image/3/context.json\""
        var fields = fields
        fields[.contentType] = isLinked ? linked : "application/json"
        fields[.vary] = "Accept"
        self.fields = fields
    }

    /// Whether it has led to a result.
    var hasAnswered: Bool { answers.load(ordering: .relaxed) }

    /// Makes the reply of a result, but for the fields that change with time.
    func reply(_ response: LoadResponse) throws(Problem) -> Reply {
        answers.store(true, ordering: .relaxed)
        if case .description(let base, let longestSide) = kind {
            guard let size = response.nativeSize else { throw Problem(.internalServerError, "The size is unknown.") }
            var reply = Reply(Array(IIIFInfo(id: base, size: size, longestSide: longestSide).json.utf8), fields)
            reply.addTag()
            return reply
        }
        guard let picture, let image = response.encoded, let type = image.declaredType else {
            throw Problem(.internalServerError, "The list ended without a file.")
        }
        // The digest of the body, which is its tag, takes longer than the load of one that is in memory.
        if let reply = latest.withLock({ $0 }), reply.body.isStored(with: image.bytes) { return reply }
        var reply = Reply(image.bytes, fields)
        reply.fields[.contentType] = type
        reply.fields[.lastModified] = response.lastModified
        reply.fields[.contentDisposition] = picture.disposition(type)
        if case .tile(let base, let parts) = kind {
            var link = "<http://iiif.io/api/image/3/level2.json>;rel=\"profile\""
            if let native = response.nativeSize, let canonical = IIIFCanonical(parts, turned: native) {
                link += ", <\(base)/\(canonical.path)>;rel=\"canonical\""
            }
            reply.fields[.link] = link
        }
        reply.addTag()
        if image.bytes.count <= Self.maximumKept {
            reply.keep()
            latest.withLock { $0 = reply }
        }
        return reply
    }
}

extension [UInt8] {
    /// Whether two arrays share their memory, and so their bytes: neither can be changed while both exist.
    fileprivate func isStored(with other: [UInt8]) -> Bool {
        withUnsafeBytes { first in
            other.withUnsafeBytes { first.baseAddress == $0.baseAddress && first.count == $0.count }
        }
    }
}

extension PictureRequest {
    /// `inline` or `attachment`, with the source's name and the result's extension (RFC 6266).
    fileprivate func disposition(_ type: String) -> String {
        let last = source.prefix { $0 != "?" }.split(separator: "/").last ?? "image"
        let end = ImageCodecs.standard.codec(for: ImageFormat(rawValue: type))?.extensions.first ?? ""
        // Only the extension is replaced, the part behind the last dot.
        let stem = last.lastIndex(of: ".").map { last[..<$0] } ?? last
        let name = "\(fileName ?? (stem.isEmpty ? "image" : String(stem))).\(end)"
        let isPlain = name.utf8.allSatisfy {
            $0 >= 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\")
        }
        let field = isPlain ? "filename=\"\(name)\"" : "filename*=UTF-8''\(name.percentEncoded)"
        return (isAttachment ? "attachment; " : "inline; ") + field
    }
}

extension HTTPField.Name {
    fileprivate static let link = name("Link")
}
