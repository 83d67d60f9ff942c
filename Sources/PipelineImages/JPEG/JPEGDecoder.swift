import Pipeline

/// Decodes JPEG with libjpeg-turbo, which scales by 1/2, 1/4 or 1/8 as it decodes. Its rows are then scaled to the
/// exact size. CMYK is converted last, after all reduction.
struct JPEGDecoder: ImageDecoding {
    /// Shows the scans of a progressive file, and the rows of any other.
    let showsBeginnings = true

    /// Reads the file's segments up to the first scan.
    func header(of bytes: [UInt8], cancellation: WorkCancellation) throws -> ImageHeader {
        var header = try bytes.withUnsafeBufferPointer { buffer in
            try JPEGFile(buffer, allowDamage: true, cancellation: cancellation).imageHeader
        }
        if let map = try JPEGGainMap(in: bytes, cancellation)?.description, map.size != nil { header.take(map) }
        return header
    }

    /// Decodes at the exact size that fits the box, with no more work than necessary. ``DecodeQuality/fast`` decodes
    /// the thumbnail in the file if that is large enough.
    func decode(
        _ bytes: [UInt8], header: ImageHeader, box: PixelSize?, options: DecodeOptions, cancellation: WorkCancellation
    ) throws -> DecodedImage {
        var image = try picture(bytes, header, box, options, cancellation)
        if header.keepsGainMap { image.gainMap = try gainMap(of: bytes, header, image.size, cancellation) }
        return image
    }

    private func picture(
        _ bytes: [UInt8], _ header: ImageHeader, _ box: PixelSize?, _ options: DecodeOptions,
        _ cancellation: WorkCancellation
    ) throws -> DecodedImage {
        if options.quality == .fast, header.region == nil,
            let image = try thumbnail(of: bytes, header, box, options, cancellation)
        {
            return image
        }
        return try bytes.withUnsafeBufferPointer { buffer in
            let file = try JPEGFile(buffer, allowDamage: options.allowTruncated, cancellation: cancellation)
            let scale = JPEGScale(header: header, box: box, quality: options.quality)
            let pixels = try pixels(of: file, scale, options.quality, cancellation)
            guard file.isInk else {
                return try header.image(
                    pixels, size: scale.target, layout: file.layout, profile: file.profile, cancellation)
            }
            let colors = try InkPixels(pixels, size: scale.target, profile: file.profile ?? []).colors(cancellation)
            return try header.image(colors, size: scale.target, layout: .rgb, profile: nil, cancellation)
        }
    }

    /// Decodes the gain map, reduced as the picture is; `nil` for one that is damaged.
    /// - Parameter size: The size of the decoded picture or region.
    private func gainMap(
        of bytes: [UInt8], _ header: ImageHeader, _ size: PixelSize, _ cancellation: WorkCancellation
    ) throws -> GainMap? {
        guard let found = try JPEGGainMap(in: bytes, cancellation), let place = found.place,
            let parameters = found.description.parameters
        else { return nil }
        do {
            return try bytes[place...].withUnsafeBufferPointer { buffer in
                let file = try JPEGFile(buffer, allowDamage: false, cancellation: cancellation)
                let stored = file.imageHeader.storedSize
                // The header that the budget was asked for may have been another's.
                guard !file.isInk, found.description.memory(stored, of: header.storedSize) <= header.gainMapMemory,
                    (file.layout == .gray) == header.gainMapIsGray
                else { return nil }
                let whole = PixelRegion(x: 0, y: 0, size: stored)
                let target = stored.reduced(
                    by: header.orientation.applied(to: size), of: header.storedRegion.size)
                let scale = JPEGScale(region: whole, target: target, quality: .quality)
                return try GainMap(
                    decoded: try pixels(of: file, scale, .quality, cancellation), size: target, file.layout, parameters,
                    stored: stored, of: header, profile: found.profile, cancellation)
            }
        } catch let error as LoadError where [.undecodable, .unsupportedType].contains(error.code) {
            return nil
        }
    }

    func metadata(of bytes: [UInt8], cancellation: WorkCancellation) throws -> EmbeddedMetadata {
        try JPEGSegments(bytes[...], cancellation).metadata
    }

    /// Returns the picture decoded from the thumbnail in its file, if that is large enough and has the picture's
    /// proportions.
    private func thumbnail(
        of bytes: [UInt8], _ header: ImageHeader, _ box: PixelSize?, _ options: DecodeOptions,
        _ cancellation: WorkCancellation
    ) throws -> DecodedImage? {
        let target = header.orientation.applied(to: header.storedSize(for: box))
        guard header.format == .jpeg, target != header.size,
            let thumbnail = try JPEGThumbnail(of: bytes, cancellation)
        else { return nil }
        do {
            return try thumbnail.jpeg.withUnsafeBufferPointer { buffer in
                let file = try JPEGFile(buffer, allowDamage: false, cancellation: cancellation)
                var small = file.imageHeader
                small.orientation = thumbnail.orientation ?? header.orientation
                // The thumbnail's profile doesn't count, since it lies in the same 64 KB.
                let profile = file.profile ?? thumbnail.profile
                small.take(profile: profile)
                small.hasProfile = !profile.isEmpty
                small = small.keeping(options)
                guard small.size.canStandIn(for: header.size, at: target), file.codecMemory <= header.memory,
                    !file.isInk, small.pixelColors == header.pixelColors
                else { return nil }
                let scale = JPEGScale(
                    region: small.storedRegion, target: small.orientation.applied(to: target), quality: .fast)
                let pixels = try small.finished(
                    try pixels(of: file, scale, .fast, cancellation), size: scale.target, layout: file.layout,
                    profile: profile, cancellation)
                return try DecodedImage(
                    validating: pixels, size: target, layout: file.layout, nativeSize: header.size)
            }
        } catch let error as LoadError where [.undecodable, .unsupportedType].contains(error.code) {
            // The picture itself may be intact.
            return nil
        }
    }

    private func pixels(
        of file: JPEGFile, _ scale: JPEGScale, _ quality: DecodeQuality, _ cancellation: WorkCancellation
    ) throws -> [UInt8] {
        let layout = file.layout
        let size = try file.start(eighths: scale.eighths)
        guard size != scale.target else { return try file.pixels(size: size, layout: layout) }
        var window = scale.window
        let rows = window.size == size ? window : try file.narrow(to: window)
        (window.x, window.y) = (window.x - rows.x, window.y - rows.y)
        let sink = try RowSink(
            scale.plan(quality: quality), window: window, of: rows.size.width, layout: layout, isInk: file.isInk,
            cancellation: cancellation)
        try file.forEachStrip(size: rows.size, layout: layout) { sink.push($0, count: $1) }
        return sink.finish()
    }
}
