import Pipeline

extension DecodedImage {
    /// Reads and decodes a file on the calling thread, while a list of stages is made.
    package init(file path: String, codecs: ImageCodecs, limits: ImageLimits) throws {
        do {
            let cancellation = WorkCancellation().limited(to: limits.time, by: SystemClock())
            let bytes = try ReadFile.read(path, limit: limits.encodedBytes, cancellation)
            guard let decoder = codecs.codec(of: bytes)?.decoder else {
                throw LoadError(.unsupportedType, subject: path, "The file is not a readable image.")
            }
            let header = try decoder.header(of: bytes, cancellation: cancellation)
            try limits.check(header)
            try limits.check(memory: header.decodingMemory(box: nil, frames: 1))
            self = try decoder.picture(
                of: bytes, header: header, box: nil, options: DecodeOptions(), cancellation: cancellation)
        } catch let error as LoadError {
            throw error.about(path)
        }
    }
}
