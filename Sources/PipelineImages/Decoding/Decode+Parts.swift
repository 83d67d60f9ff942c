package import Pipeline

/// The only part of a picture that the stages after a `Decode` need.
package struct PartOfPicture: Sendable {
    /// The file's header.
    package let header: ImageHeader
    /// The part, in upright pixels.
    package let region: PixelRegion
    /// What the part may be reduced to fit; `nil` for its own size.
    package let box: PixelSize?
}

extension Decode {
    /// Whether any picture would have a part that alone is needed: a header isn't read in vain.
    package func mayNeedPart(_ load: Load) -> Bool {
        load.request.maxPixelSize == nil && ahead.region(of: PixelSize(square: 1 << 20)) != nil
    }

    /// The part of a load's picture that is needed; `nil` if the whole picture is, or all of an animation.
    /// - Parameter known: The file's header, if it has been read before.
    /// - Throws: What the stage throws for a file that it refuses; `CancellationError`.
    package func part(of load: inout Load, knowing known: ImageHeader?) async throws -> PartOfPicture? {
        guard case .original(let file) = load.content else { return nil }
        let header: ImageHeader
        if let known {
            header = known
        } else {
            header = try await load.header(limits: limits, codecs: codecs, threads: threads)
        }
        try limits.check(encodedBytes: file.bytes.count)
        try limits.check(header)
        let work = try work(for: file, load, load.time(within: limits.time))
        guard !header.isVector, let (region, box) = work.neededPart(of: header) else { return nil }
        return PartOfPicture(header: header, region: region, box: box)
    }

    /// The same stage for a picture that is needed whole, reduced to fit a box.
    package func fitting(_ box: PixelSize) -> Decode {
        var decode = self
        decode.ahead = ahead.fitting(box)
        return decode
    }

    /// Tells later stages of the file, as ``run(_:)`` does, for pixels that were decoded before.
    package func attachSource(to load: inout Load, _ header: ImageHeader) {
        guard case .original(let file) = load.content,
            let codec = try? (codecs ?? load.codecs).readableCodec(of: file.bytes, declaredType: file.declaredType)
        else { return }
        attachSource(to: &load, file, header, codec.decoder(serving: load.request.partition))
    }
}
