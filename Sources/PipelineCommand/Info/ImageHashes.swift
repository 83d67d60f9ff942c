import FoundationEssentials
import Pipeline
import Stages

/// The hashes and colours that `info --hash` prints.
struct ImageHashes: Encodable, Sendable {
    struct Share: Encodable {
        let colour: String
        let share: Double
    }

    /// In base64.
    let thumbHash: String
    let blurHash: String
    /// The difference hash, in hexadecimal digits.
    let dHash: String
    let colours: [Share]

    /// Decodes a file, no larger than the hashes need it, and calculates them.
    /// - Parameter time: What earlier work on the file has used of the limit of time.
    init(of bytes: [UInt8], _ limits: ImageLimits, after time: Duration) async throws {
        let pipeline = ImagePipeline {
            ContinueTime(time)
            ReadInline()
            Decode(codecs: Formats.codecs, limits: limits)
            Resize(PixelSize(width: 256, height: 256))
        }
        guard let image = try await pipeline.load(ImageRequest(.bytes(bytes))).image else {
            throw LoadError(.unexpectedProduct, subject: "", "The pipeline ends without pixels.")
        }
        thumbHash = Data(try await image.thumbHash()).base64EncodedString()
        blurHash = try await image.blurHash()
        let bits = String(try await image.differenceHash(), radix: 16)
        dHash = String(repeating: "0", count: 16 - bits.count) + bits
        colours = try await image.dominantColors().map {
            Share(colour: "\($0.color)", share: ($0.share * 1000).rounded() / 1000)
        }
    }
}

extension ImageHashes: CustomStringConvertible {
    /// A line for each, indented below the file's.
    var description: String {
        let shares = colours.map { "\($0.colour) \(OneDecimal.text($0.share * 100)) %" }
        return
            "  ThumbHash \(thumbHash)\n  BlurHash \(blurHash)\n  dHash \(dHash)\n  colours \(shares.joined(separator: ", "))"
    }
}
