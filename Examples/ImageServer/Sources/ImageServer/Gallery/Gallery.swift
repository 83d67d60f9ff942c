import Foundation
import HTTPTypes
import PipelineServer

/// The gallery: a page with every picture, a viewer that zooms, and a page of traces.
struct Gallery: Sendable {
    private let recent: RecentRequests
    private let names: [String]
    private let facts: PictureFacts

    init(_ settings: Settings, _ recent: RecentRequests) throws {
        self.recent = recent
        let sources = SourcePolicy(folder: settings.folder)
        let files = try settings.folder.map { folder in
            try FileManager.default.contentsOfDirectory(atPath: folder).filter { name in
                // Some names no path can name.
                PictureRequest.formats[name.split(separator: ".").last?.lowercased() ?? ""] != nil
                    && !name.unicodeScalars.contains { $0.value < 0x20 || [0x7F, 0xFFFD].contains($0.value) }
                    && (try? sources.source(name)) != nil
            }.sorted()
        }
        names = (files ?? []) + settings.pictures
        facts = PictureFacts(folder: settings.folder ?? ".")
    }

    /// Begins to read what the pages show of pictures.
    func prepare(_ responder: ImageResponder) { facts.read(names, responder) }

    /// The page at a path; `nil` for a path of the server's other parts.
    func page(_ request: HTTPRequest, _ responder: ImageResponder) throws -> Reply? {
        let parts = URLComponents(string: request.path ?? "")
        func value(_ name: String) -> String? { parts?.queryItems?.first { $0.name == name }?.value }
        switch parts?.path {
        case "/": return Self.page(gridPage(responder))
        case "/viewer": return value("name").flatMap { viewerPage($0, responder) }.map(Self.page)
        case "/traces": return Self.page(Self.text(PackageResources.traces_html))
        case "/gallery.css": return Self.asset(PackageResources.gallery_css, "text/css")
        case "/gallery.js": return Self.asset(PackageResources.gallery_js, "text/javascript")
        case "/viewer.js": return Self.asset(PackageResources.viewer_js, "text/javascript")
        case "/traces.js": return Self.asset(PackageResources.traces_js, "text/javascript")
        case "/favicon.svg": return Self.asset(PackageResources.favicon_svg, "image/svg+xml")
        case "/pictures.json": return try Self.json(pictures(responder).map(\.values))
        case "/traces.json": return try Self.json(recent.entries(after: value("after").flatMap { Int($0) } ?? 0))
        default: return nil
        }
    }

    private func pictures(_ responder: ImageResponder) -> [GalleryPicture] {
        facts.read(names, responder)
        let known = facts.known
        return names.map { GalleryPicture($0, known[$0], responder.keys) }
    }

    private func gridPage(_ responder: ImageResponder) -> String {
        let cell = Self.text(PackageResources.cell_html)
        let cells = pictures(responder).map { $0.fill(cell) }.joined()
        return Self.text(PackageResources.gallery_html).filled(with: ["count": "\(names.count)", "cells": cells])
    }

    private func viewerPage(_ name: String, _ responder: ImageResponder) -> String? {
        guard let index = names.firstIndex(of: name) else { return nil }
        let pictures = pictures(responder)
        var picture = pictures[index]
        picture.values["previous"] = pictures[(index + names.count - 1) % names.count].values["viewer"]
        picture.values["next"] = pictures[(index + 1) % names.count].values["viewer"]
        return picture.fill(Self.text(PackageResources.viewer_html))
    }

    private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    private static func json(_ value: some Encodable) throws -> Reply {
        Reply(ofThisMoment: String(decoding: try JSONEncoder().encode(value), as: UTF8.self), type: "application/json")
    }

    private static func page(_ html: String) -> Reply {
        var reply = asset(Array(html.utf8), "text/html")
        reply.fields[.contentSecurityPolicy] =
            "default-src 'none'; img-src 'self' data:; script-src 'self'; style-src 'self'; connect-src 'self'"
        return reply
    }

    private static func asset(_ bytes: [UInt8], _ type: String) -> Reply {
        var reply = Reply(bytes, type: type + "; charset=utf-8")
        reply.fields[.cacheControl] = "no-cache"
        reply.addTag()
        return reply
    }
}
