import Pipeline

extension ImageHeader {
    /// What decoding loses of the file, as sentences; `nil` if nothing is known to be lost.
    package var losses: String? { losses(writing: nil) }

    /// What a file in another format lacks of this one, as sentences; `nil` if nothing is known to be lost.
    /// - Parameters:
    ///   - result: The format that is written. One that never holds more than 8 bits isn't told to have lost them; `nil`
    ///     to tell that too.
    ///   - isReduced: Whether 8 bits were asked for, and so aren't told to be lost.
    ///   - isBaseAlone: Whether the gain map was to be dropped; likewise.
    package func losses(
        writing result: ImageFormat?, isReduced: Bool = false, isBaseAlone: Bool = false
    ) -> String? {
        let sentences = [
            characterLosses, pictureLosses, toneLosses, isBaseAlone ? nil : gainMapLosses,
            isReduced ? nil : depthLosses(result),
            provenanceLoss,
        ]
        .compactMap(\.self)
        return sentences.isEmpty ? nil : sentences.joined(separator: " ")
    }

    /// The conversion to sRGB, such as `Display P3, sRGB to sRGB`, or the colours that are kept; `nil` if pixels are taken
    /// for sRGB's as they are.
    package var conversion: String? {
        guard appliesGainMap else { return conversionOfColors }
        return gainMapMakesSDR ? "\(pixelColors.name) to sRGB by the gain map" : "BT.2020, PQ by the gain map"
    }

    private var conversionOfColors: String? {
        if pixelColors != .sRGB { return "\(pixelColors.name) kept" }
        if let convertedColors { return "\(convertedColors) to sRGB" }
        guard hasProfile, profileSpace != .sRGB else { return nil }
        return "\(profileSpace?.rawValue ?? "a colour profile") to sRGB"
    }

    /// Whether pixels have the primaries of the file.
    var keepsPrimaries: Bool { pixelColors != .sRGB || conversionOfColors == nil }

    /// Whether no tone mapping changes the pixels.
    var keepsTones: Bool { pixelColors.needsDepth || !isHighRange }

    private var isHighRange: Bool {
        convertedColors.flatMap { TransferCurve($0.transfer) }?.isHighRange == true
    }

    /// The name of the colours that decoding makes sRGB's, such as `Display P3`; `nil` for grey, inks, HDR, and colours that
    /// stay.
    package var lostGamut: String? {
        guard pixelColors == .sRGB, colors != .gray, colors != .cmyk else { return nil }
        if let convertedColors {
            return toneLosses == nil && convertedColors.primaries != 1 ? convertedColors.primariesName : nil
        }
        guard hasProfile, let profileSpace, profileSpace != .sRGB else { return nil }
        return profileSpace.rawValue
    }

    private var toneLosses: String? {
        guard let convertedColors, isHighRange else { return nil }
        if appliesGainMap {
            let isKept = exchangesGainMap ? ", which is kept and leads back" : ""
            return "\(convertedColors.transferName) becomes SDR by the file's gain map\(isKept)."
        }
        return keepsTones ? nil : "\(convertedColors.transferName) becomes SDR by tone mapping (ITU-R BT.2446 A)."
    }

    private var gainMapLosses: String? {
        if gainMapIsDamaged { return GainMapDescription.unreadable }
        guard gainMap != nil, !keepsGainMap else { return nil }
        guard let stage = stageDroppingGainMap else { return GainMapDescription.dropped }
        return "The HDR gain map is dropped, since \(stage) doesn't keep it."
    }

    private func depthLosses(_ result: ImageFormat?) -> String? {
        let deep: [ImageFormat] = [.png, .tiff, .avif]
        guard bitsPerChannel > 8, pixelType == .uint8, !isVector, result.map(deep.contains) ?? true else { return nil }
        return "\(bitsPerChannel) bits a channel become 8."
    }

    private var characterLosses: String? {
        guard missingCharacters > 0 else { return nil }
        let one = "U+" + String(missingCharacter, radix: 16, uppercase: true)
        return missingCharacters == 1
            ? "The fonts lack a character of the text, \(one); it is drawn as a box."
            : "The fonts lack \(missingCharacters) characters of the text, such as \(one); they are drawn as boxes."
    }

    private var pictureLosses: String? {
        guard missingPictures > 0 else { return nil }
        let count = missingPictures == 1 ? "A picture" : "\(missingPictures) pictures"
        return "\(count) in the drawing can't be read and \(missingPictures == 1 ? "is" : "are") left out."
    }

    private var provenanceLoss: String? {
        hasProvenance
            ? "The manifest of provenance (C2PA) isn't kept: it is signed for the bytes of the source, and not for a new picture."
            : nil
    }
}
