import Pipeline
import Testing

@testable import PipelineImages

extension ImageCodec {
    /// The same codec with another decoder.
    func decoding(with decoder: any ImageDecoding) -> ImageCodec {
        ImageCodec(format, extensions: extensions, decoder: decoder, encoder: encoder) { self.matches($0) }
    }
}

extension ImageCodecs {
    /// The metadata blocks of a file of a known format.
    static func metadata(of bytes: [UInt8], _ format: ImageFormat) throws -> EmbeddedMetadata {
        try #require(standard.codec(for: format)).decoder.metadata(of: bytes, cancellation: WorkCancellation())
    }

    /// A file without metadata, however long that takes.
    func stripped(_ bytes: [UInt8], of metadata: StrippedMetadata) async throws -> [UInt8] {
        try await stripped(bytes, of: metadata, within: WorkTime(limit: nil))
    }
}

extension EncodeOptions {
    /// A file of a picture, made on the calling thread.
    func file(
        of image: DecodedImage, _ format: ImageFormat, metadata: EmbeddedMetadata = EmbeddedMetadata(),
        _ cancellation: WorkCancellation = WorkCancellation()
    ) throws -> [UInt8] {
        try ImageCodecs.standard.encoder(for: format)
            .encode(image, as: format, self, metadata: metadata, cancellation: cancellation)
    }
}
