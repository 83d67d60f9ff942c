import Pipeline

/// What an AV1 bitstream says of its frames' size (AV1 Bitstream & Decoding Process Specification, section 5.5).
enum AV1SequenceHeader {
    /// The largest frame size of all sequence headers among some OBUs.
    /// - Parameter budget: counts down with each OBU; below zero, nobody should go on.
    static func largestSize(in units: ArraySlice<UInt8>, budget: inout Int) -> PixelSize? {
        var largest: PixelSize?
        var rest = units
        while let first = rest.first, budget > 0 {
            budget -= 1
            let hasExtension = first & 4 != 0
            rest = rest.dropFirst(hasExtension ? 2 : 1)
            var length = rest.count
            if first & 2 != 0 {
                guard let size = leb128(&rest) else { break }
                length = size
            }
            if first >> 3 & 15 == 1 { largest = PixelSize.larger(largest, size(in: rest.prefix(length))) }
            rest = rest.dropFirst(length)
        }
        return largest
    }

    private static func leb128(_ bytes: inout ArraySlice<UInt8>) -> Int? {
        var value = 0
        for index in 0..<8 {
            guard let byte = bytes.popFirst() else { return nil }
            value |= Int(byte & 0x7f) << (7 * index)
            if byte & 0x80 == 0 { return value }
        }
        return nil
    }

    private static func size(in header: ArraySlice<UInt8>) -> PixelSize? {
        var reader = BitReader(header)
        reader.skip(4)
        guard let isReduced = reader.flag() else { return nil }
        if isReduced {
            reader.skip(5)
        } else {
            guard skipOperatingPoints(&reader) else { return nil }
        }
        guard let widthBits = reader.bits(4), let heightBits = reader.bits(4),
            let width = reader.bits(widthBits + 1), let height = reader.bits(heightBits + 1)
        else { return nil }
        return PixelSize(width: width + 1, height: height + 1)
    }

    private static func skipOperatingPoints(_ reader: inout BitReader) -> Bool {
        var delayBits: Int?
        guard let hasTiming = reader.flag() else { return false }
        if hasTiming {
            reader.skip(64)
            if reader.flag() == true, reader.exponentialGolomb() == nil { return false }
            if reader.flag() == true {
                delayBits = reader.bits(5).map { $0 + 1 }
                reader.skip(42)
            }
        }
        guard let hasDisplayDelay = reader.flag(), let points = reader.bits(5) else { return false }
        for _ in 0...points {
            reader.skip(12)
            guard let level = reader.bits(5) else { return false }
            if level > 7 { reader.skip(1) }
            if let delayBits, reader.flag() == true { reader.skip(2 * delayBits + 1) }
            if hasDisplayDelay, reader.flag() == true { reader.skip(4) }
        }
        return true
    }
}
