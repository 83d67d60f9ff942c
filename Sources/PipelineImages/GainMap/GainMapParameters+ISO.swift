extension GainMapParameters {
    /// Reads the metadata of ISO 21496-1 (annex C), as a JPEG's segment has it after its name.
    ///
    /// The fourth bit of the flags says that all fractions share one denominator. libultrahdr writes it.
    init(iso content: ArraySlice<UInt8>) throws(GainMapFault) {
        var fields = Fields(content)
        let (minimum, writer) = (try fields.number(2), try fields.number(2))
        guard minimum == 0 else {
            throw GainMapFault("it needs version \(minimum) of ISO 21496-1, and version 0 is read")
        }
        let flags = try fields.number(1)
        if flags & 8 != 0 { fields.denominator = try fields.number(4) }
        let (base, alternate) = (try fields.fraction(), try fields.fraction())
        var channels: [Channel] = []
        for _ in 0..<(flags & 0x80 != 0 ? 3 : 1) {
            let (low, high) = (try fields.signedFraction(), try fields.signedFraction())
            let gamma = try fields.fraction()
            channels.append(
                Channel(
                    minimum: low, maximum: high, gamma: gamma, baseOffset: try fields.signedFraction(),
                    alternateOffset: try fields.signedFraction()))
        }
        // A later version may add fields.
        guard writer > 0 || fields.isAtEnd else { throw GainMapFault("it has bytes after its last field") }
        try self.init(
            checking: channels, base: base, alternate: alternate, usesBaseColorSpace: flags & 0x40 != 0)
    }

    /// Reads an item `tmap`: a version of its own, then the same metadata.
    init(toneMapped content: ArraySlice<UInt8>) throws(GainMapFault) {
        guard let version = content.first else { throw GainMapFault("its metadata is cut off") }
        guard version == 0 else { throw GainMapFault("its item has version \(version), and version 0 is read") }
        try self.init(iso: content.dropFirst())
    }

    /// Reads big-endian numbers and fractions in order.
    private struct Fields {
        private let content: ArraySlice<UInt8>
        private var position = 0
        /// The denominator of all fractions; `nil` if each has its own.
        var denominator: Int?

        init(_ content: ArraySlice<UInt8>) { self.content = content }

        var isAtEnd: Bool { position == content.count }

        mutating func number(_ size: Int) throws(GainMapFault) -> Int {
            guard let number = content.number(at: position, bytes: size) else {
                throw GainMapFault("its metadata is cut off")
            }
            position += size
            return number
        }

        mutating func fraction() throws(GainMapFault) -> Double {
            let above = try number(4)
            return Double(above) / (try below())
        }

        mutating func signedFraction() throws(GainMapFault) -> Double {
            let above = Int32(truncatingIfNeeded: try number(4))
            return Double(above) / (try below())
        }

        private mutating func below() throws(GainMapFault) -> Double {
            let below = if let denominator { denominator } else { try number(4) }
            guard below > 0 else { throw GainMapFault("a fraction has the denominator 0") }
            return Double(below)
        }
    }
}
