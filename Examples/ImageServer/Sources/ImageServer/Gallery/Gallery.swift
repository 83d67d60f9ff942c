import Foundation
import HTTPTypes
import PipelineServer
import Stages
import Synchronization

/// The gallery: a page with every picture, a viewer that zooms, and a page of traces.
struct Gallery: Sendable {
    private let recent: RecentRequests
    private let names: [String]
    private let grid = Lazy()

    /// The page is made once: its placeholders need every picture decoded.
    private final class Lazy: Sendable {
        let html = Mutex<String?>(nil)
    }

    init(_ settings: Settings, _ recent: RecentRequests) throws {
        self.recent = recent
        let sources = SourcePolicy(folder: settings.folder)
        let files = try settings.folder.map { folder in
            try FileManager.default.contentsOfDirectory(atPath: folder).filter { name in
                let isPicture = PictureRequest.formats[name.split(separator: ".").last?.lowercased() ?? ""] != nil
                // Some names no path can name.
                return isPicture
                    && !name.unicodeScalars.contains { $0.value < 0x20 || [0x7F, 0xFFFD].contains($0.value) }
                    && (try? sources.source(name)) != nil
            }.sorted()
        }
        names = (files ?? []) + settings.pictures
    }

    /// The page at a path; `nil` for a path of the server's other parts.
    func page(_ request: HTTPRequest, _ responder: ImageResponder) async throws -> Reply? {
        let parts = URLComponents(string: request.path ?? "")
        switch parts?.path {
        case "/": return Self.page(try await gridPage(responder))
        case "/viewer": return Self.page(Self.text(PackageResources.viewer_html))
        case "/traces": return Self.page(Self.text(PackageResources.traces_html))
        case "/gallery.css": return Self.asset(PackageResources.gallery_css, "text/css")
        case "/gallery.js": return Self.asset(PackageResources.gallery_js, "text/javascript")
        case "/viewer.js": return Self.asset(PackageResources.viewer_js, "text/javascript")
        case "/traces.js": return Self.asset(PackageResources.traces_js, "text/javascript")
        case "/traces.json":
            let after = parts?.queryItems?.first { $0.name == "after" }?.value.flatMap { Int($0) } ?? 0
            return Reply(ofThisMoment: try recent.json(after: after), type: "application/json")
        default: return nil
        }
    }

    private func gridPage(_ responder: ImageResponder) async throws -> String {
        if let html = grid.html.withLock({ $0 }) { return html }
        let cells = try await withThrowingTaskGroup(of: (Int, String).self) { group in
            var cells: [Int: String] = [:]
            for (index, name) in names.enumerated() {
                // Few at a time: the queue is for requests.
                if index >= 16, let (index, cell) = try await group.next() { cells[index] = cell }
                group.addTask { (index, await cell(name, responder)) }
            }
            return try await group.reduce(into: cells) { $0[$1.0] = $1.1 }
        }
        let list = names.indices.compactMap { cells[$0] }.joined(separator: "\n")
        let html = Self.text(PackageResources.gallery_html)
            .replacingOccurrences(of: "{{count}}", with: "\(names.count)").replacingOccurrences(
                of: "{{cells}}", with: list)
        grid.html.withLock { $0 = html }
        return html
    }

    /// A picture's place in the grid. One that can't be loaded now has no placeholder but is still requested.
    private func cell(_ name: String, _ responder: ImageResponder) async -> String {
        let (hash, keys) = (try? await responder.thumbHash(of: name), responder.keys)
        let title = (name.split(separator: "/").last ?? "").prefix { $0 != "." }.replacing("-", with: " ")
        // A name may turn the direction in which the page is read.
        let label = ImageSource.file(String(title)).redacted
        let sources = [160, 320, 640].map { width in
            "\(ThumbDialect.path("\(width)x\(width * 3 / 4),cover", to: name, signedWith: keys)) \(width)w".htmlText
        }
        let thumbnail = ThumbDialect.path("320x240,cover", to: name, signedWith: keys)
        let path = IIIFDialect.path(to: name, signedWith: keys)
        let viewed = path.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? path
        return """
            <li><a href="/viewer?iiif=\(viewed)" data-name="\(name.htmlText)" \
            data-hash="\(Data(hash ?? []).base64EncodedString())"><img width="320" height="240" loading="lazy" \
            decoding="async" alt="\(label.htmlText)" src="\(thumbnail.htmlText)" \
            srcset="\(sources.joined(separator: ", "))" \
            sizes="(min-width: 60em) 20vw, (min-width: 40em) 33vw, 50vw"></a></li>
            """
    }

    private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    private static func page(_ html: String) -> Reply {
        var reply = Reply(Array(html.utf8), type: "text/html; charset=utf-8")
        reply.fields[.contentSecurityPolicy] =
            "default-src 'none'; img-src 'self' data:; script-src 'self'; style-src 'self'; connect-src 'self'"
        reply.fields[.cacheControl] = "no-cache"
        reply.addTag()
        return reply
    }

    private static func asset(_ bytes: [UInt8], _ type: String) -> Reply {
        var reply = Reply(bytes, type: type + "; charset=utf-8")
        reply.fields[.cacheControl] = "no-cache"
        reply.addTag()
        return reply
    }
}

extension String {
    /// The text inside an HTML element or attribute.
    var htmlText: String {
        replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing("\"", with: "&quot;")
    }
}
