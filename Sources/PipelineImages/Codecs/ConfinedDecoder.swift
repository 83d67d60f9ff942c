import Pipeline

/// A decoder whose library isn't made for hostile files: it refuses to work anywhere but in a process of its own.
struct ConfinedDecoder: PreparedOnDemand {
    private let decoder: any ImageDecoding

    init(_ decoder: any ImageDecoding) { self.decoder = decoder }

    var canBeStopped: Bool { decoder.canBeStopped }

    var showsBeginnings: Bool { decoder.showsBeginnings }

    func prepare() { decoder.prepare() }

    func header(of bytes: [UInt8], cancellation: WorkCancellation) throws -> ImageHeader {
        try checkProcess()
        return try decoder.header(of: bytes, cancellation: cancellation)
    }

    func decode(
        _ bytes: [UInt8], header: ImageHeader, box: PixelSize?, options: DecodeOptions, cancellation: WorkCancellation
    ) throws -> DecodedImage {
        try checkProcess()
        return try decoder.decode(bytes, header: header, box: box, options: options, cancellation: cancellation)
    }

    func metadata(of bytes: [UInt8], cancellation: WorkCancellation) throws -> EmbeddedMetadata {
        try checkProcess()
        return try decoder.metadata(of: bytes, cancellation: cancellation)
    }

    private func checkProcess() throws(LoadError) {
        guard !DecodingProcess.isCurrent else { return }
        throw LoadError(
            .unsupportedType, subject: "",
            "Files of this format are only decoded in processes of their own. Isolate the codecs in a DecoderPool.")
    }
}
