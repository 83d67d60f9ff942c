import LibC

/// The XMP of a gain map's picture, or of a picture that has one.
struct GainMapXMP {
    private static let adobe = "http://ns.adobe.com/hdr-gain-map/1.0/"
    private static let apple = "http://ns.apple.com/HDRGainMap/1.0/"
    private static let appleKind = "http://ns.apple.com/pixeldatainfo/1.0/AuxiliaryImageType"
    /// The type of Apple's auxiliary pictures.
    static let appleType = "urn:com:apple:photo:2020:aux:hdrgainmap"

    private let properties: XMPProperties

    init(_ packet: ArraySlice<UInt8>) { properties = XMPProperties(packet) }

    /// Whether it has Adobe's properties.
    var isAdobe: Bool { properties.first(Self.adobe + "Version") != nil }

    /// Whether the picture is Apple's map.
    var isApple: Bool {
        properties.first(Self.apple + "HDRGainMapVersion") != nil
            || properties.first(Self.appleKind) == Self.appleType
    }

    /// The parameters of Adobe's properties (Gain map specification 1.0, Adobe 2023), with its defaults.
    func adobeParameters() throws(GainMapFault) -> GainMapParameters {
        let version = properties.first(Self.adobe + "Version") ?? ""
        guard version == "1.0" else { throw GainMapFault("its hdrgm:Version isn't 1.0") }
        let (low, high) = (try number("HDRCapacityMin", 0), try number("HDRCapacityMax", 1))
        guard low >= 0, high > low else { throw GainMapFault("its HDRCapacityMax \(high) isn't above \(low)") }
        let isHDR = properties.first(Self.adobe + "BaseRenditionIsHDR") ?? "False"
        guard ["True", "False"].contains(isHDR) else {
            throw GainMapFault("its BaseRenditionIsHDR is neither True nor False")
        }
        let (minimum, maximum) = (try numbers("GainMapMin", 0), try numbers("GainMapMax", 1))
        let gamma = try numbers("Gamma", 1)
        let (sdr, hdr) = (try numbers("OffsetSDR", 1 / 64), try numbers("OffsetHDR", 1 / 64))
        guard (sdr + hdr).allSatisfy({ $0 >= 0 }) else { throw GainMapFault("an offset is negative") }
        let count = [minimum, maximum, gamma, sdr, hdr].map(\.count).max() ?? 1
        let channels = (0..<count).map { index in
            func channel(_ values: [Double]) -> Double { values.count == 1 ? values[0] : values[index] }
            return GainMapParameters.Channel(
                minimum: channel(minimum), maximum: channel(maximum), gamma: channel(gamma),
                baseOffset: channel(isHDR == "True" ? hdr : sdr),
                alternateOffset: channel(isHDR == "True" ? sdr : hdr))
        }
        return try GainMapParameters(
            checking: channels, base: isHDR == "True" ? high : low, alternate: isHDR == "True" ? low : high,
            usesBaseColorSpace: true)
    }

    /// The parameters of Apple's map.
    /// - Parameter exif: The EXIF of the base picture. Older phones have the headroom only there.
    func appleParameters(_ exif: EXIFBlock?) throws(GainMapFault) -> GainMapParameters {
        let stops: Double
        if let text = properties.first(Self.apple + "HDRGainMapHeadroom") {
            guard let headroom = Double(text), headroom.isFinite, headroom >= 1 else {
                throw GainMapFault("its HDRGainMapHeadroom isn't a number from 1")
            }
            stops = log2(headroom)
        } else {
            guard let noted = exif?.appleHeadroom else { throw GainMapFault("its headroom is missing") }
            stops = noted
        }
        return try GainMapParameters(checking: [], base: 0, alternate: stops, usesBaseColorSpace: true)
    }

    private func number(_ name: String, _ standard: Double) throws(GainMapFault) -> Double {
        let numbers = try numbers(name, standard)
        guard numbers.count == 1 else { throw GainMapFault("its \(name) has \(numbers.count) values") }
        return numbers[0]
    }

    /// One number, or three.
    private func numbers(_ name: String, _ standard: Double) throws(GainMapFault) -> [Double] {
        let texts = properties.all(Self.adobe + name)
        guard !texts.isEmpty else { return [standard] }
        let numbers = texts.compactMap { Double($0) }.filter(\.isFinite)
        guard numbers.count == texts.count, [1, 3].contains(numbers.count) else {
            throw GainMapFault("its \(name) isn't one number or three")
        }
        return numbers
    }
}
