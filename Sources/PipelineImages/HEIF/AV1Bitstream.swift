#if AVIF || HEIC
import Pipeline

/// Reads the sizes of the pictures that decoding an AV1 bitstream produces.
struct AV1Bitstream {
    private(set) var largest: PixelSize?
    /// How many pictures are decoded, including those that aren't shown.
    private(set) var frames = 0
    private var sequence: AV1SequenceHeader?

    /// Reads some OBUs (AV1 Bitstream & Decoding Process Specification, section 5.3), such as an item's.
    /// - Parameters:
    ///   - sequence: The sequence header of the configuration; the OBUs may replace it.
    ///   - budget: Counts down with each OBU; at zero, the caller has to stop.
    init(_ units: ArraySlice<UInt8>, sequence: AV1SequenceHeader? = nil, budget: inout Int) {
        self.sequence = sequence
        var rest = units
        while let first = rest.first, budget > 0 {
            budget -= 1
            let hasExtension = first & 4 != 0
            rest = rest.dropFirst(hasExtension ? 2 : 1)
            var length = rest.count
            if first & 2 != 0 {
                guard let size = Self.leb128(&rest) else { break }
                length = size
            }
            read(rest.prefix(length), type: first >> 3 & 15)
            rest = rest.dropFirst(length)
        }
    }

    /// The last sequence header.
    var configuration: AV1SequenceHeader? { sequence }

    private mutating func read(_ payload: ArraySlice<UInt8>, type: UInt8) {
        switch type {
        case 1:
            guard let header = AV1SequenceHeader(payload) else { return }
            sequence = header
            largest = .larger(largest, header.size)
        // A frame header: alone, with its pixels, or repeated.
        case 3, 6, 7:
            if type != 7 { frames += 1 }
            // A frame may state any size that the sequence has bits for. Still pictures can't.
            guard let sequence, sequence.isOverridden(in: payload) else { return }
            largest = .larger(largest, sequence.largestSize)
        default: return
        }
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
}
#endif
