import ArgumentParser
import Pipeline
import Stages

/// A format that can be written, by its extension or name.
struct WritableFormat: ExpressibleByArgument, Sendable, Hashable {
    /// The names that help and completions offer.
    static let names = ["jpg", "png", "webp", "avif", "gif", "tif"]

    let format: ImageFormat

    init?(argument: String) {
        guard let format = ImageFormat(fileExtension: argument), format.isWritable else { return nil }
        self.format = format
    }
}
