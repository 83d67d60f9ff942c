import Pipeline
public import PipelineImages

/// Decodes a format in the workers of a pool.
struct IsolatedDecoder: RemoteDecoding {
    let pool: DecoderPool
    /// The format's place among the helper's.
    let codec: Int
    let showsBeginnings: Bool
    /// The partition of the loads, if the pool keeps them apart.
    var partition: String?

    func serving(_ partition: String?) -> any RemoteDecoding {
        var decoder = self
        decoder.partition = pool.start.separatesPartitions ? partition : nil
        return decoder
    }

    var isFullyConfined: Bool? { pool.confinement.isSuperset(of: .required) }

    func wake() { pool.wakeWorker() }

    func header(of bytes: [UInt8], cancellation: WorkCancellation) throws -> ImageHeader {
        // Decoding mostly follows at once.
        try pool.perform(
            request(.header, bytes), on: bytes, by: self, keepsFile: true, expectedWithin: 50, cancellation
        ) { response, slab in
            var numbers = try response.result(in: slab)
            return try numbers.nextHeader(pool.formats, of: codec, fileBytes: bytes.count)
        }
    }

    func decode(
        _ bytes: [UInt8], header: ImageHeader, box: PixelSize?, options: DecodeOptions, cancellation: WorkCancellation
    ) throws -> DecodedImage {
        var request = request(.decode, bytes)
        request.append(header, pool.formats)
        // A caller may ask for any box and any number of frames. No picture is as large.
        request.append(
            box.map { box in
                PixelSize(width: min(box.width, Message.largest), height: min(box.height, Message.largest))
            })
        request.append(min(options.frames, Message.largest))
        request.append(options.allowTruncated)
        request.append(options.quality == .fast)
        request.append(options.keepsColors)
        request.append(options.keepsDepth)
        request.append(options.keepsHDR)
        request.append(options.makesHDR)
        request.append(options.keepsGainMap)
        // Small pictures take some hundred microseconds.
        let isSmall = header.storedSize.width.saturatingTimes(header.storedSize.height) <= 200_000
        return try pool.perform(
            request, on: bytes, by: self, expectedWithin: isSmall ? 400 : 0, cancellation
        ) { response, slab in
            var numbers = try response.result(in: slab)
            return try numbers.nextImage(of: header, box: box, frames: options.frames, in: slab)
        }
    }

    func metadata(of bytes: [UInt8], cancellation: WorkCancellation) throws -> EmbeddedMetadata {
        try pool.perform(request(.metadata, bytes), on: bytes, by: self, cancellation) { response, slab in
            var reader = SlabReader(slab, try response.result(in: slab))
            return try reader.metadata(fileBytes: bytes.count)
        }
    }

    func description(of bytes: [UInt8], cancellation: WorkCancellation) throws -> ImageMetadata {
        try pool.perform(request(.description, bytes), on: bytes, by: self, cancellation) { response, slab in
            var reader = SlabReader(slab, try response.result(in: slab))
            return try reader.description(pool.formats, of: codec, byteCount: bytes.count)
        }
    }

    func blocks(
        _ kept: KeptMetadata, of bytes: [UInt8], for size: PixelSize, isGray: Bool, cancellation: WorkCancellation
    ) throws -> EmbeddedMetadata {
        var request = request(.keptMetadata, bytes)
        request.append(KeptMetadata.allCases.firstIndex(of: kept) ?? 0)
        request.append(size)
        request.append(isGray)
        return try pool.perform(request, on: bytes, by: self, cancellation) { response, slab in
            var reader = SlabReader(slab, try response.result(in: slab))
            return try reader.keptMetadata(fileBytes: bytes.count)
        }
    }

    func stripped(
        _ bytes: [UInt8], of metadata: StrippedMetadata, cancellation: WorkCancellation
    ) throws -> [UInt8] {
        var request = request(.stripped, bytes)
        request.append(metadata.isLocation)
        request.append(metadata.keepsProvenance)
        return try pool.perform(request, on: bytes, by: self, cancellation) { response, slab in
            var reader = SlabReader(slab, try response.result(in: slab))
            return try reader.block(atMost: StrippedMetadata.mostBytes(of: bytes.count))
        }
    }

    private func request(_ kind: Message.Kind, _ bytes: [UInt8]) -> Message {
        var request = Message(kind: kind.rawValue)
        request.append(codec)
        request.append(bytes.count)
        return request
    }
}

extension Message {
    /// The numbers of a response's result.
    /// - Throws: The decoder's `LoadError` if it failed; ``Malformed`` if the response is neither.
    fileprivate func result(in slab: Slab) throws -> Reader {
        switch Status(rawValue: kind) {
        case .done: return reader
        case .failed:
            var words = SlabReader(slab, reader)
            throw try words.error()
        case nil: throw Malformed("there is no status \(kind)")
        }
    }
}

extension ImageCodecs {
    /// Returns the same codecs with their decoders in a pool's processes. Encoders stay in this process.
    ///
    /// Codecs are compared by identity when equal loads share their work, so call it once and keep the list.
    ///
    /// SVG and JPEG XL can only be decoded like this: `ImageCodecs.standard.adding(.svg).adding(.jxl).isolated(in: pool)`.
    /// Text in an SVG is drawn with the DejaVu fonts, and references to other files are ignored.
    /// - Throws: `LoadError` with `refused` if the helper doesn't know a codec's format. Make a helper that does with
    ///   ``DecoderWorker/main(codecs:)``.
    public func isolated(in pool: DecoderPool) throws(LoadError) -> ImageCodecs {
        var list = ImageCodecs([])
        for codec in codecs { list = list.adding(codec.decoding(by: try pool.decoder(for: codec))) }
        return list
    }
}

extension DecoderPool {
    /// Returns the decoder of a codec in this pool.
    /// - Throws: `LoadError` with `refused` if the helper doesn't know its format.
    package func decoder(for codec: ImageCodec) throws(LoadError) -> any RemoteDecoding {
        guard let place = formats.firstIndex(of: codec.format) else {
            throw LoadError(
                .refused, subject: codec.format.rawValue,
                "The program that decodes images doesn't know the format. Make one that does with DecoderWorker.main.")
        }
        return IsolatedDecoder(pool: self, codec: place, showsBeginnings: codec.decoder.showsBeginnings)
    }
}
