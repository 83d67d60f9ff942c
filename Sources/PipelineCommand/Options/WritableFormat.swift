import ArgumentParser
import Pipeline
import Stages

/// A format that can be written, by its extension or name.
struct WritableFormat: ExpressibleByArgument, Sendable, Hashable {
    let format: ImageFormat

    init?(argument: String) {
        guard let codec = Formats.codecs.codec(forExtension: argument), codec.encoder != nil else { return nil }
        format = codec.format
    }
}
