import FoundationEssentials
import Pipeline

/// The bytes of a path that isn't UTF-8, in JSON as base64: as a text it can't be given back to the command.
struct PathBytes: Encodable {
    private let bytes: [UInt8]

    /// `nil` for a path that is UTF-8.
    init?(_ path: String) {
        guard path.hasPathEscapes else { return nil }
        bytes = path.pathBytes
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(Data(bytes).base64EncodedString())
    }
}
