#if AVIF || HEIC
import Pipeline

/// The picture sizes in an HEVC sequence parameter set (ITU-T H.265 section 7.3.2.2).
struct HEVCParameterSet {
    /// The size that the decoder holds.
    let coded: PixelSize
    /// The size that it returns, cropped to the conformance window.
    let shown: PixelSize

    /// Returns `nil` if the NAL unit isn't a parameter set, or is malformed.
    init?(_ unit: ArraySlice<UInt8>) {
        // The fields before the size are never longer than this.
        guard let first = unit.first, first >> 1 & 63 == 33 else { return nil }
        let payload = Self.withoutEmulationPrevention(unit.dropFirst(2).prefix(160))
        var reader = BitReader(payload[...])
        reader.skip(4)
        guard let subLayers = reader.bits(3) else { return nil }
        reader.skip(1 + 96)
        guard Self.skipSubLayers(subLayers, &reader), reader.exponentialGolomb() != nil,
            let chroma = reader.exponentialGolomb()
        else { return nil }
        if chroma == 3 { reader.skip(1) }
        guard let width = reader.exponentialGolomb(), let height = reader.exponentialGolomb() else { return nil }
        coded = PixelSize(width: width, height: height)
        guard reader.flag() == true else {
            shown = coded
            return
        }
        let window = (0..<4).compactMap { _ in reader.exponentialGolomb() }
        guard window.count == 4 else { return nil }
        // In units of chroma samples.
        let (across, down) = (chroma == 1 || chroma == 2 ? 2 : 1, chroma == 1 ? 2 : 1)
        shown = PixelSize(
            width: max(0, width - across * (window[0] + window[1])),
            height: max(0, height - down * (window[2] + window[3])))
    }

    private static func skipSubLayers(_ count: Int, _ reader: inout BitReader) -> Bool {
        var bits = 0
        for _ in 0..<count {
            guard let hasProfile = reader.flag(), let hasLevel = reader.flag() else { return false }
            bits += (hasProfile ? 88 : 0) + (hasLevel ? 8 : 0)
        }
        if count > 0 { bits += 2 * (8 - count) }
        reader.skip(bits)
        return true
    }

    /// Removes each 3 after two zeros, which only prevents start codes (section 7.4.2).
    private static func withoutEmulationPrevention(_ unit: ArraySlice<UInt8>) -> [UInt8] {
        var result: [UInt8] = []
        var zeros = 0
        for byte in unit {
            if zeros >= 2, byte == 3 {
                zeros = 0
                continue
            }
            zeros = byte == 0 ? zeros + 1 : 0
            result.append(byte)
        }
        return result
    }
}
#endif
