import HTTPTypes
import Pipeline
@testable import PipelineServer

/// Reads what a client sends to an image server: a path in each dialect, and fields of its request.
enum PathFuzzing {
    private static let dialects: [any Dialect] = {
        let presets = ["small": "20x20,cover"]
        guard let imgproxy = try? ImgproxyDialect(presets: ["small": "rs:fill:20:20"]),
            let thumb = try? ThumbDialect(presets: presets)
        else { preconditionFailure("the presets can't be read") }
        return [IIIFDialect(), imgproxy, thumb]
    }()

    /// The first line is a path after its dialect's name, the second a query, the third the value of a field.
    static func read(_ bytes: [UInt8]) {
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
            .map(String.init)
        let (rest, query) = (lines[0], lines.count > 1 ? lines[1] : nil)
        for dialect in dialects {
            for isSigned in [false, true] {
                let path = DialectPath("/\(dialect.name)/\(rest)", query: query, isSigned: isSigned)
                _ = try? dialect.signedText(of: path)
                precondition(work(dialect, path) == work(dialect, path), "a path is read in two ways")
            }
        }
        if let text = rest.percentDecoded {
            precondition(text.percentEncoded.percentDecoded == text, "percent-encoding doesn't come back")
        }
        if lines.count > 2 { readField(lines[2]) }
    }

    /// The names of the work that a path asks for; `nil` if it is refused.
    private static func work(_ dialect: any Dialect, _ path: DialectPath) -> [String]? {
        guard case .picture(let picture) = try? dialect.request(path) else { return nil }
        _ = picture.link?(PixelSize(width: 4032, height: 2976))
        return picture.stages.map { stage in
            guard let signature = stage.signature else { preconditionFailure("\(stage.name) can't be told apart") }
            return signature
        }
    }

    private static func readField(_ field: String) {
        if let hosts = try? Hosts(publicURL: "https://images.example", listeningAt: "0.0.0.0"),
            let address = try? hosts.address(for: field)
        {
            precondition(address == "https://images.example", "a client names the server")
        }
        _ = try? Hosts(listeningAt: "127.0.0.1").address(for: field)
        _ = try? ClientAddresses(proxies: ["10.0.0.0/8"]).address(peer: "10.0.0.1", forwardedFor: field)
        _ = try? ClientAddresses(proxies: [field])
        if let keys = try? SigningKeys(file: field) {
            precondition(keys.isValid(keys.signature(of: field), of: field), "a signature isn't valid")
        }
        let lifetime = OriginCacheControl(field).field(lifetime: 60)
        precondition(lifetime.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F }, "a field of an origin is passed on as it is")
        let hints = ClientHints([.accept: "*/*", ClientHintsName.ratio: field, ClientHintsName.width: field])
        precondition(ClientHints.pixelRatios.contains(hints.pixelRatio), "a ratio between two steps")
        _ = RequestID(parent: field)
        _ = LoadPriority(field)
    }

    private enum ClientHintsName {
        static let ratio = HTTPField.Name("Sec-CH-DPR") ?? .via
        static let width = HTTPField.Name("Sec-CH-Width") ?? .via
    }
}
