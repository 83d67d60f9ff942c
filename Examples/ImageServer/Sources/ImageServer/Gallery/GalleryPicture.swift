import Foundation
import PipelineServer
import Stages

/// A picture as the pages show it, and their scripts.
struct GalleryPicture {
    /// Texts by name, for the places in templates and for `/pictures.json`. The placeholder and the sizes are there once
    /// they are known.
    var values: [String: String]

    init(_ name: String, _ fact: PictureFacts.Fact?, _ keys: SigningKeys?) {
        let file = name.split(separator: "/").last ?? ""
        // A name may turn the direction in which the page is read.
        let title = ImageSource.file(String(file.prefix { $0 != "." }.replacing("-", with: " "))).redacted
        let format = PictureRequest.formats[file.split(separator: ".").last?.lowercased() ?? ""]?.rawValue.dropFirst(6)
        let details = [fact?.size, format?.uppercased().replacing("WEBP", with: "WebP"), fact?.bytes]
        func thumbnail(_ size: String) -> String { ThumbDialect.path(size, to: name, signedWith: keys) }
        values = [
            "name": name, "title": title.prefix(1).uppercased() + title.dropFirst(),
            "details": details.compactMap(\.self).joined(separator: " · "),
            "hash": Data(fact?.hash ?? []).base64EncodedString(),
            "viewer": "/viewer?name=" + (name.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? name),
            "iiif": IIIFDialect.path(to: name, signedWith: keys), "screen": thumbnail("1600x1600"),
            "thumbnail": thumbnail("320x240,cover"),
            "widths": [160, 320, 640, 960].map { "\(thumbnail("\($0)x\($0 * 3 / 4),cover")) \($0)w" }
                .joined(separator: ", "),
        ]
    }

    /// Puts the texts into a template.
    func fill(_ template: String) -> String { template.filled(with: values.mapValues(\.htmlText)) }
}

extension String {
    /// The text inside an HTML element or attribute.
    var htmlText: String {
        replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing("\"", with: "&quot;")
    }

    /// A template with its places, such as `{{title}}`, filled with HTML.
    func filled(with values: [String: String]) -> String {
        components(separatedBy: "{{").enumerated().map { index, part in
            guard index > 0, let end = part.firstRange(of: "}}") else { return part }
            return (values[String(part[..<end.lowerBound])] ?? "") + part[end.upperBound...]
        }.joined()
    }
}
