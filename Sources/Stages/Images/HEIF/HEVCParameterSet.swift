import Pipeline

/// What an HEVC bitstream says of its pictures' size (ITU-T H.265 section 7.3.2.2).
enum HEVCParameterSet {
    /// The size in a NAL unit, if it is a sequence parameter set.
    static func size(in unit: ArraySlice<UInt8>) -> PixelSize? {
        // What comes before the size is never longer than this.
        guard let first = unit.first, first >> 1 & 63 == 33 else { return nil }
        let payload = withoutEmulationPrevention(unit.dropFirst(2).prefix(512))
        var reader = BitReader(payload[...])
        reader.skip(4)
        guard let subLayers = reader.bits(3) else { return nil }
        reader.skip(1 + 96)
        guard skipSubLayers(subLayers, &reader), reader.exponentialGolomb() != nil,
            let chroma = reader.exponentialGolomb()
        else { return nil }
        if chroma == 3 { reader.skip(1) }
        guard let width = reader.exponentialGolomb(), let height = reader.exponentialGolomb() else { return nil }
        return PixelSize(width: width, height: height)
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

    /// After two zeros a 3 stands only so that no start code can arise (section 7.4.2).
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
