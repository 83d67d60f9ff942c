import HTTPTypes
import Pipeline
import Stages
import Synchronization

/// What to load for a path, and what its reply says.
final class PlannedLoad: Sendable {
    private enum Kind: Sendable {
        case picture(PictureRequest)
        case description(SourceDescription)
    }

    let request: ImageRequest
    let list: ImagePipeline
    /// The overlays of the picture, and the picture that needs them; none for most.
    let overlays: [ImageRequest]
    let overlaid: (picture: PictureRequest, formats: AcceptedFormats)?
    /// When the path stops being valid, in seconds since 1970; `nil` for never.
    let expires: Int?
    private let kind: Kind
    private let fields: HTTPFields
    private let latest = Lock<Reply?>(nil)
    private let answers = Atomic<Bool>(false)
    /// The most bytes of a body that is kept. All plans together keep ``ServerConfiguration/replyBytes`` that memory may
    /// have evicted.
    static let maximumKept = 65_536

    /// Plans the load of a picture. Its reply has these fields among others.
    init(
        _ picture: PictureRequest, _ fields: HTTPFields, _ request: ImageRequest, _ list: ImagePipeline,
        overlays: [ImageRequest], _ formats: AcceptedFormats
    ) {
        (self.overlays, overlaid) = (overlays, overlays.isEmpty ? nil : (picture, formats))
        (self.request, self.list, expires, kind) = (request, list, picture.expires, .picture(picture))
        var fields = fields
        // A picture that is opened as a page runs nothing, whatever its bytes are.
        fields[.contentSecurityPolicy] = "default-src 'none'; sandbox"
        var varies = picture.format == nil ? ["Accept"] : []
        if picture.hints != nil { varies.append(ClientHints.names) }
        if !varies.isEmpty { fields[.vary] = varies.joined(separator: ", ") }
        self.fields = fields
    }

    /// Plans the load of a source's description.
    init(_ description: SourceDescription, _ fields: HTTPFields, _ request: ImageRequest, _ list: ImagePipeline) {
        (overlays, overlaid) = ([], nil)
        (self.request, self.list, expires, kind) = (request, list, nil, .description(description))
        var fields = fields
        fields[.contentType] = description.type
        self.fields = fields
    }

    /// Whether it has led to a result.
    var hasAnswered: Bool { answers.load(ordering: .relaxed) }

    /// Makes the reply of a result, but for the fields that change with time.
    func reply(_ response: LoadResponse) throws(Problem) -> Reply {
        answers.store(true, ordering: .relaxed)
        let picture: PictureRequest
        switch kind {
        case .description(let description):
            var reply = Reply(try description.text(response), fields)
            reply.addTag()
            return reply
        case .picture(let own): picture = own
        }
        guard let image = response.encoded, let type = image.declaredType else {
            throw Problem(.internalServerError, "The list ended without a file.")
        }
        // The digest of the body, which is its tag, takes longer than the load of one that is in memory.
        if let reply = latest.withLock({ $0 }), reply.body.isStored(with: image.bytes) { return reply }
        var reply = Reply(image.bytes, fields)
        reply.fields[.contentType] = type
        // The picture changes with its overlays too.
        if overlays.isEmpty { reply.fields[.lastModified] = response.lastModified }
        reply.fields[.contentDisposition] = picture.disposition(type)
        if let native = response.nativeSize { reply.fields[.link] = picture.link?(native) }
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

extension SourceDescription {
    /// The text's bytes, from the result of its list.
    fileprivate func text(_ response: LoadResponse) throws(Problem) -> [UInt8] {
        switch content {
        case .size(let text):
            guard let size = response.nativeSize else { throw Problem(.internalServerError, "The size is unknown.") }
            return Array(text(size).utf8)
        case .facts:
            guard let document = response.encoded else {
                throw Problem(.internalServerError, "The list ended without a text.")
            }
            return document.bytes
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
