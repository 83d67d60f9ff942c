#if AVIF || HEIC
import Pipeline

/// Reads and decodes the still picture of a HEIF or AVIF file.
struct HEIFStill {
    let file: HEIFFile
    /// The primary item's picture.
    let picture: HEIFPicture

    /// - Throws: `undecodable`, `unsupportedType`, `CancellationError`.
    init(_ bytes: [UInt8], format: ImageFormat, cancellation: WorkCancellation) throws {
        file = try HEIFFile(bytes, format: format, cancellation: cancellation)
        guard let primary = file.primary else { throw file.damaged("it doesn't say which picture to show") }
        picture = try file.picture(of: primary, cancellation: cancellation)
    }

    /// The header of the picture after cropping and turning.
    var header: ImageHeader {
        var header = ImageHeader(
            format: file.format, storedSize: picture.size, frames: file.pictures, hasAlpha: picture.alpha != nil,
            hasProfile: !picture.profile.isEmpty, bitsPerChannel: picture.first.bits)
        header.codedSize = picture.codedSize
        header.memory = memory
        header.holdsDepth = picture.first.bits > 8
        header.take(profile: picture.profile)
        if let map = file.gainMap?.description { header.take(map) }
        header.hasProvenance = file.hasProvenance
        header.take(picture.codedColors)
        return header
    }

    /// The memory that decoding needs besides the result.
    private var memory: Int {
        let tile = PixelSize.larger(picture.first.coded, picture.first.size) ?? picture.first.size
        let sample = picture.first.bits > 8 ? 2 : 1
        let pixel = (picture.alpha == nil ? 3 : 4) * sample
        let turned = picture.geometry.orientation == .up ? 0 : picture.size.bytes(pixel)
        switch picture.first.codec {
        case .av1:
            // A picture and its decoder's state, the canvas of tiles, the unscaled pixels, and the files that libavif
            // gets.
            let planes = picture.first.planeBytes
            let canvas = (picture.color.items.count > 1 ? planes : 0) + 3 * sample
            let alpha = picture.alpha == nil ? 0 : planes + sample
            let items = picture.color.items + (picture.alpha?.items ?? [])
            let files = items.reduce(0) { $1.extents.reduce($0) { $0.saturatingPlus($1.count) } }
            return tile.bytes(2 * planes + 2).saturatingPlus(picture.color.canvas.bytes(canvas + alpha))
                .saturatingPlus(turned).saturatingPlus(files)
        case .hevc:
            // A row of tiles, each as the decoder's planes and as pixels, and the rows copied from them.
            let row = PixelSize(width: max(tile.width, picture.color.canvas.width), height: tile.height)
            return row.bytes(picture.first.bits > 8 ? 24 : 10).saturatingPlus(turned)
        }
    }

    /// Decodes the picture, scaled to fit a box.
    /// - Parameter wanted: Says what to keep of the file.
    func decode(
        _ wanted: ImageHeader, box: PixelSize?, options: DecodeOptions, cancellation: WorkCancellation
    ) throws -> DecodedImage {
        var header = header
        (header.pixelColors, header.keepsGainMap) = (wanted.pixelColors, wanted.keepsGainMap)
        let target = header.storedSize(for: box)
        var image =
            wanted.pixelType == .uint16
            ? try deep(header, target, cancellation) : try reduced(to: target, header, options.quality, cancellation)
        if header.keepsGainMap { image.gainMap = try gainMap(header, image.size, cancellation) }
        return image
    }

    /// Decodes the picture with 8 bits a channel, scaled to a size.
    private func reduced(
        to target: PixelSize, _ header: ImageHeader, _ quality: DecodeQuality, _ cancellation: WorkCancellation
    ) throws -> DecodedImage {
        let source = try thumbnail(for: target, header.pixelColors, quality, cancellation) ?? picture
        var stored = header
        stored.storedSize = source.geometry.size
        stored.orientation = source.geometry.orientation
        let size = source.geometry.orientation.applied(to: target)
        let (pixels, layout) = try pixels(of: source, size, quality, cancellation)
        // A thumbnail without colour information has the picture's.
        let isDescribed = !source.profile.isEmpty || source.colors != nil
        let profile = isDescribed ? source.profile : picture.profile
        stored.hasProfile = !profile.isEmpty
        stored.take(isDescribed ? source.codedColors : picture.codedColors)
        let finished = try stored.finished(pixels, size: size, layout: layout, profile: profile, cancellation)
        return try DecodedImage(validating: finished, size: target, layout: layout, nativeSize: header.size)
    }

    /// Decodes the gain map, reduced as the picture is; `nil` for one that is damaged.
    private func gainMap(
        _ header: ImageHeader, _ size: PixelSize, _ cancellation: WorkCancellation
    ) throws -> GainMap? {
        guard let found = file.gainMap, let item = found.item, let parameters = found.description.parameters else {
            return nil
        }
        do {
            let map = try file.picture(of: item, cancellation: cancellation)
            guard found.description.memory(map.size, of: picture.size) > 0,
                map.codedSize.bytes(1) <= picture.codedSize.bytes(4)
            else { return nil }
            // A map without a turn of its own is stored as the picture is.
            var own = header
            if map.geometry.orientation != .up { own.orientation = map.geometry.orientation }
            let target = map.geometry.size.reduced(by: own.orientation.applied(to: size), of: own.storedSize)
            let (pixels, layout) = try pixels(of: map, target, .quality, cancellation)
            guard layout == .rgb else { return nil }
            let isGray = header.gainMapIsGray
            return try GainMap(
                decoded: isGray ? stride(from: 0, to: pixels.count, by: 3).map { pixels[$0] } : pixels, size: target,
                isGray ? .gray : .rgb, parameters,
                stored: map.geometry.size, of: own, profile: file.alternateProfile(with: item), cancellation)
        } catch let error as LoadError where [.undecodable, .unsupportedType].contains(error.code) {
            return nil
        }
    }

    /// The pixels of an item, scaled to a size, in its own colours and not yet turned.
    private func pixels(
        of source: HEIFPicture, _ size: PixelSize, _ quality: DecodeQuality, _ cancellation: WorkCancellation
    ) throws -> ([UInt8], PixelLayout) {
        switch source.first.codec {
        case .av1:
            #if AVIF
            try AVIFStill(bytes: file.bytes, format: file.format, picture: source).pixels(size, quality, cancellation)
            #else
            throw UnknownFormat.leftOut("coded with AV1", "AVIF")
            #endif
        case .hevc:
            #if HEIC
            try HEICStill(bytes: file.bytes, picture: source).pixels(size, quality, cancellation)
            #else
            throw UnknownFormat.leftOut("coded with HEVC", "HEIC")
            #endif
        }
    }

    /// Decodes the picture with 16 bits a channel, scaled to a size.
    private func deep(
        _ header: ImageHeader, _ target: PixelSize, _ cancellation: WorkCancellation
    ) throws -> DecodedImage {
        let (samples, layout) =
            switch picture.first.codec {
            case .av1:
                #if AVIF
                try AVIFStill(bytes: file.bytes, format: file.format, picture: picture).samples(cancellation)
                #else
                throw UnknownFormat.leftOut("coded with AV1", "AVIF")
                #endif
            case .hevc:
                #if HEIC
                try HEICStill(bytes: file.bytes, picture: picture).samples(cancellation)
                #else
                throw UnknownFormat.leftOut("coded with HEVC", "HEIC")
                #endif
            }
        var stored = header
        (stored.storedSize, stored.orientation) = (picture.geometry.size, picture.geometry.orientation)
        return try stored.deepImage(
            samples, of: stored.storedSize, layout: layout, scaledTo: stored.orientation.applied(to: target),
            cancellation)
    }

    /// Returns a thumbnail in the file that can replace the picture where speed counts: it is large enough and has the
    /// picture's proportions.
    private func thumbnail(
        for target: PixelSize, _ colors: PixelLayout.ColorSpace, _ quality: DecodeQuality,
        _ cancellation: WorkCancellation
    ) throws -> HEIFPicture? {
        guard quality == .fast, let primary = file.primary, target != picture.size else { return nil }
        for reference in (file.sources[primary] ?? []).prefix(4) where reference.type == "thmb" {
            try cancellation.check()
            guard let small = try? file.picture(of: reference.item, cancellation: cancellation),
                small.size.canStandIn(for: picture.size, at: target), small.alpha == nil, picture.alpha == nil,
                small.codedSize.bytes(1) <= picture.codedSize.bytes(1),
                colors == .sRGB || small.profile.isEmpty && small.colors == nil
            else { continue }
            return small
        }
        return nil
    }
}
#endif
