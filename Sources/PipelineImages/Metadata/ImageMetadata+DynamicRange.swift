import Pipeline

extension ImageMetadata {
    /// How a file holds light above the white of a display without headroom.
    public enum DynamicRange: String, Sendable, Hashable, CaseIterable {
        /// It doesn't: its brightest light is white (SDR).
        case standard = "none"
        /// In the levels themselves, by SMPTE ST 2084 or by hybrid log-gamma (ITU-R BT.2100).
        case pq = "PQ"
        case hlg = "HLG"
        /// By a second picture; see ``ImageMetadata/gainMap``.
        case gainMap = "gain map"
    }

    /// How the file holds light above white. A gain map whose parameters can't be read doesn't count.
    public var dynamicRange: DynamicRange {
        if gainMap?.parameters != nil { return .gainMap }
        return transferName.flatMap { DynamicRange(rawValue: $0) } ?? .standard
    }

    /// The names of the colour space and of the transfer function by which a file's pixels are read. Its numbers go
    /// before its profile in a PNG, and after it in other formats.
    static func names(_ header: ImageHeader, _ profile: ICCProfile?) -> (space: String, transfer: String?) {
        let colors = header.codedColors?.asFullRangeRGB
        let isCoded = colors?.isKnown == true && (profile == nil || header.format == .png)
        if let colors, isCoded {
            let isSRGB = colors.primaries == 1 && colors.transferName == "sRGB"
            return (isSRGB ? "sRGB" : colors.primariesName, colors.transferName)
        }
        guard let profile else { return ("sRGB", "sRGB") }
        return (profile.namedSpace?.rawValue ?? profile.name ?? "unnamed", profile.transferName)
    }

    /// What a file in another format lacks of this one, as ``ImageHeader/losses(writing:)`` tells for a header.
    package func losses(writing result: ImageFormat?) -> String? {
        var header = ImageHeader(format: format, storedSize: storedSize, bitsPerChannel: bitsPerChannel)
        header.convertedColors = profile == nil || format == .png ? codedColors : nil
        // Lists that only scale keep depth, except where they map tones.
        let range: [ImageFormat?] = [.png, .avif]
        let deep = range + [.tiff]
        let isDeep = (deep + [.heic]).contains(format) && deep.contains(result) && frames <= 1
        let colors = header.convertedColors.flatMap { PixelLayout.ColorSpace($0.asFullRangeRGB) }
        if let colors, colors.needsDepth {
            if isDeep, bitsPerChannel > 8, range.contains(result) {
                (header.pixelColors, header.pixelType) = (colors, .uint16)
            }
        } else if isDeep {
            header.pixelType = .uint16
        }
        header.gainMap = gainMap?.size == nil ? nil : gainMap?.standard
        let mapped: [ImageFormat?] = [.jpeg, .avif]
        header.keepsGainMap = gainMap?.parameters != nil && mapped.contains(result) && header.keepsTones
        return header.losses(writing: result)
    }
}
