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
        try append(map.parameters?.decimals, to: &message)
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
        return GainMapDescription(
            standard, size: size, channelCount: channelCount,
            try GainMapParameters(decimals, usesBaseColorSpace: usesBase))
    }
}

extension GainMapParameters {
    /// The headrooms, then five numbers of each channel.
    fileprivate var decimals: [Double] {
        [baseHeadroom, alternateHeadroom]
            + channels.flatMap { [$0.minimum, $0.maximum, $0.gamma, $0.baseOffset, $0.alternateOffset] }
    }

    /// Reads the numbers, which have to follow the same rules as in a file.
    fileprivate init(_ decimals: [Double], usesBaseColorSpace: Bool) throws(Message.Malformed) {
        guard decimals.count >= 2, (decimals.count - 2) % 5 == 0 else {
            throw Message.Malformed("a gain map has \(decimals.count) numbers")
        }
        let channels = stride(from: 2, to: decimals.count, by: 5).map { start in
            Channel(
                minimum: decimals[start], maximum: decimals[start + 1], gamma: decimals[start + 2],
                baseOffset: decimals[start + 3], alternateOffset: decimals[start + 4])
        }
        do {
            try self.init(
                checking: channels, base: decimals[0], alternate: decimals[1], usesBaseColorSpace: usesBaseColorSpace)
        } catch {
            throw Message.Malformed("a gain map makes no sense: \(error.reason)")
        }
    }
}

extension Message {
    /// Adds a gain map, and writes its pixels and its profile to a slab from a place on. One that doesn't fit is left out.
    mutating func append(
        _ map: GainMap?, to slab: UnsafeMutableRawBufferPointer, at place: Int
    ) {
        guard let map, map.pixels.count + map.profile.count <= slab.count - place else {
            return append(0)
        }
        let decimals = map.parameters.decimals
        append(decimals.count)
        for decimal in decimals { append(Int(truncatingIfNeeded: decimal.bitPattern)) }
        append(map.parameters.usesBaseColorSpace)
        append(map.size)
        append(map.storedSize)
        append(map.channelCount)
        append(map.profile.count)
        used = place
        for bytes in [map.pixels, map.profile] {
            bytes.withUnsafeBytes { slab.baseAddress?.advanced(by: used).copyBytes(from: $0) }
            used += bytes.count
        }
    }
}

extension Message.Reader {
    /// Copies a gain map out of a slab; `nil` for none.
    /// - Parameter header: The header of the picture's file, as the program has checked it.
    mutating func nextGainMap(
        of header: ImageHeader, in slab: Slab, at place: Int
    ) throws(Message.Malformed) -> GainMap? {
        var decimals: [Double] = []
        for _ in 0..<(try next(in: 0...(header.keepsGainMap ? 2 + 3 * 5 : 0))) {
            decimals.append(Double(bitPattern: UInt64(bitPattern: Int64(try next(in: Int.min...Int.max)))))
        }
        guard !decimals.isEmpty else { return nil }
        guard decimals.allSatisfy(\.isFinite) else { throw Message.Malformed("a decimal number isn't finite") }
        let parameters = try GainMapParameters(decimals, usesBaseColorSpace: try nextBool())
        let (size, stored, channelCount) = (try nextSize(), try nextSize(), try next(in: 1...3))
        let count = size.width.saturatingTimes(size.height).saturatingTimes(channelCount)
        guard count <= header.gainMapMemory else { throw Message.Malformed("its gain map has \(count) bytes") }
        let profileCount = try next(in: 0...GainMap.mostProfileBytes)
        let pixels = [UInt8](copying: try slab.part(at: place, count: count))
        let profile = [UInt8](copying: try slab.part(at: place + count, count: profileCount))
        guard
            let map = GainMap(
                pixels, size: size, channelCount: channelCount, parameters, stored: stored, of: header.size,
                part: header.shownPart, profile: profile)
        else { throw Message.Malformed("its gain map makes no sense") }
        return map
    }
}
