package import Pipeline

extension PixelLayout.ColorSpace {
    /// The colour space of pixels that these numbers describe; `nil` for sRGB, and for colours that have to be converted.
    init?(_ colors: CodedColors) {
        let curve = TransferCurve(colors.transfer)
        if let curve, curve == .linear || curve.isHighRange {
            guard colors.isFullRange, colors.isKnown else { return nil }
            self.init(rawValue: UInt16(256 * colors.primaries + colors.transfer))
            return
        }
        guard curve == .sRGB else { return nil }
        switch colors.primaries {
        case 9: self = .bt2020
        case 12: self = .displayP3
        default: return nil
        }
    }

    /// Its numbers (ITU-T H.273); `nil` for a space that has none.
    var codedColors: CodedColors? {
        self == .adobeRGB
            ? nil
            : CodedColors(
                primaries: Int(rawValue >> 8), transfer: Int(rawValue & 255), matrix: 0, isFullRange: true)
    }

    /// Its primaries; `nil` for unknown ones.
    var primaries: ColorPrimaries? { self == .adobeRGB ? .adobeRGB : .named[Int(rawValue >> 8)] }

    /// Whether it is one of those that pixels are in.
    var isNamed: Bool { [.sRGB, .displayP3, .bt2020, .adobeRGB].contains(self) }

    /// Its name, such as `Display P3`.
    var name: String {
        switch self {
        case .displayP3: "Display P3"
        case .bt2020: "BT.2020"
        case .adobeRGB: "Adobe RGB"
        default: needsDepth ? codedColors?.description ?? "" : "sRGB"
        }
    }

    /// Its profile; that of sRGB for HDR, which profiles describe badly.
    var profile: [UInt8] {
        switch self {
        case .displayP3: ICCProfile.displayP3
        case .bt2020: ICCProfile.bt2020
        case .adobeRGB: ICCProfile.adobeRGB
        default: ICCProfile.sRGB
        }
    }
}

extension ICCProfile {
    /// Profiles by the number of their primaries (ITU-T H.273).
    static let withPrimaries = [1: sRGB, 9: bt2020, 12: displayP3]

    /// The colour space of pixels whose curves ``unifyCurves(of:_:)`` has made those of the library; `nil` for sRGB, for
    /// other primaries, and for profiles of more than curves and primaries.
    var pixelColors: PixelLayout.ColorSpace? {
        let space: PixelLayout.ColorSpace
        switch namedSpace {
        case .displayP3: space = .displayP3
        case .bt2020: space = .bt2020
        case .adobeRGB where transferName == "gamma 2.2": space = .adobeRGB
        // Most profiles are sRGB's, whose curves needn't be calculated.
        default: return nil
        }
        // What looks like a curve may be tone mapping.
        guard codedColors.map({ TransferCurve($0.transfer)?.isHighRange != true }) ?? true,
            ICCConversion(unifying: self, channels: 3) != nil
        else { return nil }
        return space
    }

    /// Whether its curves are those of the library for its primaries.
    var hasUnifiedCurves: Bool { namedSpace == .adobeRGB || transferName == "sRGB" }

    /// Gives pixels of Display P3 or BT.2020 the curve of sRGB in place of the profile's, in place. Adobe RGB keeps its own.
    func unifyCurves(of pixels: inout [UInt8], _ layout: PixelLayout) {
        guard !hasUnifiedCurves, layout.channelCount >= 3 else { return }
        ICCConversion(unifying: self, channels: layout.channelCount)?.apply(to: &pixels)
    }
}

extension DecodedImage {
    /// Returns the picture with 8 bits a channel, rounded.
    /// - Throws: `CancellationError`.
    package func reducedToBytes(_ cancellation: WorkCancellation) throws -> DecodedImage {
        guard layout.isDeep else { return self }
        let reduced = try frames.map { frame in
            try cancellation.check()
            let bytes = frame.bytes.withUnsafeBytes { samples in
                samples.bindMemory(to: UInt16.self).map(UInt8.init(reducing:))
            }
            return Frame(pixels: bytes, delay: frame.delay)
        }
        var image = try DecodedImage(
            validating: reduced, size: size, layout: layout.with(.uint8), loopCount: loopCount, nativeSize: nativeSize,
            region: region)
        image.gainMap = gainMap
        return image
    }

    /// Returns the picture in sRGB, with 8 bits a channel if it is HDR, whose tones are mapped.
    /// - Throws: `CancellationError`.
    func convertedToSRGB(_ cancellation: WorkCancellation) throws -> DecodedImage {
        guard layout.colorSpace != .sRGB else { return self }
        if layout.colorSpace.needsDepth { return try mappedToSRGB(cancellation) }
        let profile = layout.colorSpace.profile
        return try labelled(.sRGB).mapFrames(cancellation) { numbers in
            var pixels = try numbers.copied(cancellation)
            try ProfiledPixels.convertToSRGB(
                &pixels, size: size, channels: layout.channelCount, profile: profile, cancellation: cancellation)
            return pixels
        }
    }
}

extension UInt8 {
    /// The level of 8 bits that is closest to one of 16.
    init(reducing sample: UInt16) { self = UInt8((Int(sample) * 255 + 32767) / 65535) }
}
