import Pipeline

/// How large the pictures are that an AV1 bitstream makes a decoder make.
struct AV1Bitstream {
    private(set) var largest: PixelSize?
    /// How many pictures are decoded, those that aren't shown among them.
    private(set) var frames = 0
    private var sequence: AV1SequenceHeader?

    /// Reads some OBUs (AV1 Bitstream & Decoding Process Specification, section 5.3), such as an item's.
    /// - Parameters:
    ///   - sequence: what was configured before; the OBUs may have their own.
    ///   - budget: counts down with each OBU; at zero, nobody should go on.
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

    /// The sequence header that a decoder is left with.
    var configuration: AV1SequenceHeader? { sequence }

    private mutating func read(_ payload: ArraySlice<UInt8>, type: UInt8) {
        switch type {
        case 1:
            guard let header = AV1SequenceHeader(payload) else { return }
            sequence = header
            largest = .larger(largest, header.size)
        // A frame's header, alone, with its pixels, or once more.
        case 3, 6, 7:
            if type != 7 { frames += 1 }
            // What a frame calls its own size may be anything that the sequence has bits for. Still pictures have none.
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
