#if AVIF || HEIC
import Pipeline

/// The size of the pictures that decoding an item produces, according to its bitstream rather than its container.
///
/// Libraries report the size in the container, but the codecs below them decode the size in the bitstream. A file of
/// 2,000 bytes that claims 100×100 pixels can hold 12,000×12,000.
struct HEIFCodedSize {
    /// The largest picture that a decoder holds; `nil` if the bitstream doesn't say.
    private(set) var held: PixelSize?
    /// The largest picture that a decoder returns.
    private(set) var shown: PixelSize?
    private(set) var frames = 0

    /// - Parameters:
    ///   - configuration: The content of `av1C` or `hvcC`.
    ///   - budget: Counts down with each unit; at zero, the caller has to stop.
    init(
        _ data: ArraySlice<UInt8>, _ codec: HEIFCodedItem.Codec, configuration: ArraySlice<UInt8>, budget: inout Int
    ) {
        switch codec {
        case .av1:
            let configured = AV1Bitstream(configuration.dropFirst(4), budget: &budget)
            let stream = AV1Bitstream(data, sequence: configured.configuration, budget: &budget)
            held = .larger(stream.largest, configured.largest)
            shown = held
            frames = stream.frames
        case .hevc:
            readConfiguration(configuration, &budget)
            readUnits(data, &budget)
        }
    }

    /// Reads lists of parameter sets (ISO/IEC 14496-15 section 8.3.3.1).
    private mutating func readConfiguration(_ configuration: ArraySlice<UInt8>, _ budget: inout Int) {
        var position = 23
        for _ in 0..<(configuration.number(at: 22, bytes: 1) ?? 0) {
            let units = configuration.number(at: position + 1, bytes: 2) ?? 0
            position += 3
            for _ in 0..<units {
                budget -= 1
                guard budget > 0, let length = configuration.number(at: position, bytes: 2),
                    let unit = configuration.slice(at: position + 2, count: length)
                else { return }
                read(unit)
                position += 2 + length
            }
        }
    }

    /// Reads NAL units, each preceded by its length.
    private mutating func readUnits(_ data: ArraySlice<UInt8>, _ budget: inout Int) {
        var position = 0
        while budget > 0, let length = data.number(at: position, bytes: 4),
            let unit = data.slice(at: position + 4, count: length)
        {
            budget -= 1
            read(unit)
            position += 4 + length
        }
    }

    private mutating func read(_ unit: ArraySlice<UInt8>) {
        guard let type = unit.first.map({ $0 >> 1 & 63 }) else { return }
        if type == 33, let set = HEVCParameterSet(unit) {
            held = .larger(held, set.coded)
            shown = .larger(shown, set.shown)
        }
        // The first slice of a picture; those of other layers aren't decoded (ITU-T H.265 section 7.3.6.1).
        let layer = unit.number(at: 0, bytes: 2).map { $0 >> 3 & 63 }
        if type < 32, layer == 0, let first = unit.number(at: 2, bytes: 1), first & 0x80 != 0 { frames += 1 }
    }
}
#endif
