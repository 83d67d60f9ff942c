import Pipeline
import PipelineImages

extension SlabWriter {
    /// Writes decimal numbers that may be missing.
    mutating func append(_ decimals: [Double]?, to message: inout Message) throws(LoadError) {
        let bytes = (decimals ?? []).flatMap { withUnsafeBytes(of: $0.bitPattern.littleEndian) { Array($0) } }
        try append(bytes, to: &message)
    }

    /// Writes a gain map's description: its size and its channels, then its parameters or why there are none.
    mutating func append(_ map: GainMapDescription?, to message: inout Message) throws(LoadError) {
        let standards = GainMapDescription.Standard.allCases
        message.append(map.flatMap { standards.firstIndex(of: $0.standard) } ?? -1)
        guard let map else { return }
        message.append(map.size)
        message.append(map.channelCount ?? 0)
        message.append(map.parameters?.usesBaseColorSpace ?? false)
        let decimals = map.parameters.map { parameters in
            [parameters.baseHeadroom, parameters.alternateHeadroom]
                + parameters.channels.flatMap {
                    [$0.minimum, $0.maximum, $0.gamma, $0.baseOffset, $0.alternateOffset]
                }
        }
        try append(decimals, to: &message)
        try append(map.fault, to: &message)
    }
}

extension SlabReader {
    /// Reads decimal numbers; `nil` for none.
    /// - Parameter most: The most numbers there may be.
    mutating func decimals(upTo most: Int) throws(Message.Malformed) -> [Double]? {
        let bytes = try block(atMost: 8 * most)
        guard bytes.count % 8 == 0 else { throw Message.Malformed("a decimal number is cut off") }
        let decimals = stride(from: 0, to: bytes.count, by: 8).map { start in
            Double(bitPattern: bytes[start..<start + 8].reversed().reduce(0) { $0 << 8 | UInt64($1) })
        }
        guard decimals.allSatisfy(\.isFinite) else { throw Message.Malformed("a decimal number isn't finite") }
        return decimals.isEmpty ? nil : decimals
    }

    /// Reads the description of a gain map, whose parameters have to follow the same rules as in a file.
    mutating func gainMap() throws(Message.Malformed) -> GainMapDescription? {
        guard let standard = try numbers.nextCase(of: GainMapDescription.Standard.self) else { return nil }
        let size = try numbers.nextOptionalSize()
        let count = try numbers.next(in: 0...3)
        let usesBase = try numbers.nextBool()
        let (decimals, fault) = (try decimals(upTo: 2 + 3 * 5), try optionalText())
        let channelCount = count == 0 ? nil : count
        guard let decimals else {
            return GainMapDescription(standard, size: size, channelCount: channelCount, fault: fault ?? "")
        }
        guard decimals.count >= 2, (decimals.count - 2) % 5 == 0 else {
            throw Message.Malformed("a gain map has \(decimals.count) numbers")
        }
        let channels = stride(from: 2, to: decimals.count, by: 5).map { start in
            GainMapParameters.Channel(
                minimum: decimals[start], maximum: decimals[start + 1], gamma: decimals[start + 2],
                baseOffset: decimals[start + 3], alternateOffset: decimals[start + 4])
        }
        do {
            return GainMapDescription(
                standard, size: size, channelCount: channelCount,
                try GainMapParameters(
                    checking: channels, base: decimals[0], alternate: decimals[1], usesBaseColorSpace: usesBase))
        } catch {
            throw Message.Malformed("a gain map makes no sense: \(error.reason)")
        }
    }
}
