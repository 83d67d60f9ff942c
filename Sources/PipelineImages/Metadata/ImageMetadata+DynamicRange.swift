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
}
