public import Pipeline

extension Load {
    /// Reads the header of the source's bytes without decoding a pixel, within the limits of bytes and time.
    ///
    /// A stage of your own that needs a fact such as the size calls it:
    ///
    /// ```swift
    /// let size = try await load.header(limits: resources.limits).size
    /// ```
    ///
    /// Its time counts towards the load's limit, and a stage such as ``Decode`` doesn't read the header again. The
    /// picture's size isn't checked against the limits; `CheckHeader` does that.
    /// - Parameters:
    ///   - limits: The most bytes of the file and the most time of all work on the load.
    ///   - codecs: The formats that are read; by default ``codecs``, those of the list.
    ///   - threads: Where the work runs; by default threads shared by all stages, one for each core.
    /// - Throws: `LoadError.Code.unsupportedType` if `codecs` lacks the format; `LoadError.Code.undecodable` if the bytes
    ///   aren't an image or the header is damaged; `LoadError.Code.tooManyBytes`; `LoadError.Code.tooMuchTime`;
    ///   `LoadError.Code.stageContract` if the load hasn't the source's bytes; `CancellationError`.
    public mutating func header(
        limits: ImageLimits, codecs: ImageCodecs? = nil, threads: BlockingThreads = .decoding
    ) async throws -> ImageHeader {
        guard case .original(let file) = content else {
            throw LoadError(
                .stageContract, subject: subject, "A header is read from the source's bytes, and the load is \(phase).")
        }
        try limits.check(encodedBytes: file.bytes.count)
        let codec = try (codecs ?? self.codecs).readableCodec(of: file.bytes, declaredType: file.declaredType)
        if let known = knownHeader(of: file, codec) { return known }
        let (time, decoder) = (time(within: limits.time), codec.decoder(serving: request.partition))
        defer { workTime = time.used }
        let header = try await time.run(on: threads, priority: priority, isLeft: !decoder.canBeStopped) {
            try decoder.header(of: file.bytes, cancellation: $0)
        }
        attach(KnownHeader(bytes: file.bytes, codec: codec, header: header))
        return header
    }

    /// The header of a file, if an earlier stage has read it with the same codec.
    func knownHeader(of file: EncodedImage, _ codec: ImageCodec) -> ImageHeader? {
        // Bytes that are the same array are found equal at once.
        guard let known = attachment(KnownHeader.self), known.codec === codec, known.bytes == file.bytes else {
            return nil
        }
        return known.header
    }
}

/// A header that a stage has read, for later ones.
private struct KnownHeader: LoadAttachment {
    let bytes: [UInt8]
    let codec: ImageCodec
    let header: ImageHeader
}
