#if AVIF || HEIC
import Pipeline

/// The sequence header of an AV1 bitstream (AV1 Bitstream & Decoding Process Specification, section 5.5).
struct AV1SequenceHeader {
    /// The size of frames that don't state another.
    private(set) var size = PixelSize(square: 0)
    /// The largest size that a frame's header has bits for.
    private(set) var largestSize = PixelSize(square: 0)
    /// Whether the bitstream is a single picture, whose frame header can't state another size.
    private(set) var isReduced = false
    /// The bits of a frame's presentation time; `nil` if frames have none.
    private var presentationBits: Int?
    /// The bits of a frame's number; `nil` if frames have none.
    private var frameNumberBits: Int?
    /// Whether frames show a screen, and whether motion is in whole pixels; `nil` if each frame says.
    private var isScreen: Bool?
    private var isWholePixels: Bool?

    /// Reads an OBU's payload.
    init?(_ payload: ArraySlice<UInt8>) {
        // The fields before the size are never longer than this.
        var reader = BitReader(payload.prefix(512))
        reader.skip(4)
        guard let isReduced = reader.flag() else { return nil }
        self.isReduced = isReduced
        if isReduced {
            reader.skip(5)
        } else {
            guard readOperatingPoints(&reader) else { return nil }
        }
        guard let widthBits = reader.bits(4), let heightBits = reader.bits(4),
            let width = reader.bits(widthBits + 1), let height = reader.bits(heightBits + 1)
        else { return nil }
        size = PixelSize(width: width + 1, height: height + 1)
        largestSize = PixelSize(width: 1 << (widthBits + 1), height: 1 << (heightBits + 1))
        if !isReduced { readFrameFeatures(&reader) }
    }

    private mutating func readOperatingPoints(_ reader: inout BitReader) -> Bool {
        var delayBits: Int?
        guard let hasTiming = reader.flag() else { return false }
        if hasTiming {
            reader.skip(64)
            let hasEqualIntervals = reader.flag() == true
            if hasEqualIntervals, reader.exponentialGolomb() == nil { return false }
            if reader.flag() == true {
                delayBits = reader.bits(5).map { $0 + 1 }
                reader.skip(37)
                let bits = reader.bits(5).map { $0 + 1 }
                presentationBits = hasEqualIntervals ? nil : bits
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

    private mutating func readFrameFeatures(_ reader: inout BitReader) {
        if reader.flag() == true {
            guard let difference = reader.bits(4), let additional = reader.bits(3) else { return }
            frameNumberBits = difference + additional + 3
        }
        // Block size, filters, compound and warped motion.
        reader.skip(7)
        if reader.flag() == true { reader.skip(2) }
        isScreen = reader.flag() == true ? nil : reader.flag()
        if isScreen != false { isWholePixels = reader.flag() == true ? nil : reader.flag() }
    }

    /// Whether a frame states its own size (section 5.9.2); true if that can't be read.
    func isOverridden(in frame: ArraySlice<UInt8>) -> Bool {
        guard !isReduced else { return false }
        var reader = BitReader(frame)
        guard let shows = reader.flag() else { return true }
        // A frame that is shown again was decoded before.
        if shows { return false }
        guard let type = reader.bits(2), let isShown = reader.flag() else { return true }
        // 0 is a key frame, 3 a switch frame, which always has its own size.
        guard type != 3 else { return true }
        if isShown, let presentationBits { reader.skip(presentationBits) }
        if !isShown { reader.skip(1) }
        if type != 0 || !isShown { reader.skip(1) }
        reader.skip(1)
        if isScreen ?? (reader.flag() == true), isWholePixels == nil { reader.skip(1) }
        if let frameNumberBits { reader.skip(frameNumberBits) }
        return reader.flag() ?? true
    }
}
#endif
