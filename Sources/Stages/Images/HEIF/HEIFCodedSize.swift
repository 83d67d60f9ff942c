import Pipeline

/// The largest picture that decoding a HEIF file makes in memory, by its bitstreams instead of by its container.
///
/// The container's size is what libheif reports; the codecs below it make what the bitstreams say, and two thousand
/// bytes that claim 100×100 pixels can hold 12,000×12,000.
enum HEIFCodedSize {
    /// The largest size of any coded item, grid or overlay; `nil` if none is found.
    /// - Throws: `undecodable` if the file has too many parts for a picture.
    static func largest(in bytes: [UInt8]) throws(LoadError) -> PixelSize? {
        // An honest file has some hundred parts; one of millions is made to keep us busy.
        var budget = 100_000
        let largest = largest(in: bytes[...], &budget)
        guard budget > 0 else {
            throw LoadError(.undecodable, subject: "", "The HEIF file has too many parts for a picture.")
        }
        return largest
    }

    private static func largest(in file: ArraySlice<UInt8>, _ budget: inout Int) -> PixelSize? {
        guard let metaBox = ISOBox.boxes(in: file, budget: &budget).first(where: { $0.type == "meta" }) else {
            return nil
        }
        let meta = ISOBox.boxes(in: metaBox.content.dropFirst(4), budget: &budget)
        var sequences: [AV1SequenceHeader] = []
        var largest = configured(meta, &sequences, &budget)
        // Honest items don't overlap: joined, they are no larger than the file.
        var joinable = file.count
        for item in HEIFItem.items(of: file, meta: meta, budget: &budget) where budget > 0 {
            if item.extents.count > 1 { joinable -= item.extents.reduce(0) { $0 + $1.count } }
            if joinable < 0 { budget = 0 } else { largest = .larger(largest, size(of: item, sequences, &budget)) }
        }
        return largest
    }

    /// The sizes in the codecs' configurations, which stand among the items' properties.
    private static func configured(
        _ meta: [ISOBox], _ sequences: inout [AV1SequenceHeader], _ budget: inout Int
    ) -> PixelSize? {
        var largest: PixelSize?
        for properties in meta where properties.type == "iprp" {
            for container in ISOBox.boxes(in: properties.content, budget: &budget)
            where container.type == "ipco" {
                for property in ISOBox.boxes(in: container.content, budget: &budget) {
                    switch property.type {
                    case "av1C":
                        let stream = AV1Bitstream(property.content.dropFirst(4), budget: &budget)
                        largest = .larger(largest, stream.largest)
                        if let sequence = stream.configuration { sequences.append(sequence) }
                    case "hvcC": largest = .larger(largest, hevcConfigured(property.content, &budget))
                    default: continue
                    }
                }
            }
        }
        return largest
    }

    private static func hevcConfigured(_ configuration: ArraySlice<UInt8>, _ budget: inout Int) -> PixelSize? {
        var largest: PixelSize?
        var position = 23
        for _ in 0..<(configuration.number(at: 22, bytes: 1) ?? 0) {
            let units = configuration.number(at: position + 1, bytes: 2) ?? 0
            position += 3
            for _ in 0..<units {
                budget -= 1
                guard budget > 0, let length = configuration.number(at: position, bytes: 2),
                    let unit = configuration.slice(at: position + 2, count: length)
                else { return largest }
                largest = .larger(largest, HEVCParameterSet.size(in: unit))
                position += 2 + length
            }
        }
        return largest
    }

    private static func size(
        of item: HEIFItem, _ sequences: [AV1SequenceHeader], _ budget: inout Int
    ) -> PixelSize? {
        let data = item.extents.count == 1 ? item.extents[0] : ArraySlice(item.extents.joined())
        switch item.type {
        case "av01": return coded(data, sequences, &budget)
        case "hvc1", "hev1": return hevcUnits(data, &budget)
        case "grid": return canvas(data, at: 4)
        case "iovl": return canvas(data, at: 10)
        default: return nil
        }
    }

    /// An item's own size, or what it would have with any of the configurations, if it doesn't bring its own.
    private static func coded(
        _ data: ArraySlice<UInt8>, _ sequences: [AV1SequenceHeader], _ budget: inout Int
    ) -> PixelSize? {
        var largest = AV1Bitstream(data, budget: &budget).largest
        guard largest == nil else { return largest }
        for sequence in sequences {
            largest = .larger(largest, AV1Bitstream(data, sequence: sequence, budget: &budget).largest)
        }
        return largest
    }

    /// NAL units, each behind its length.
    private static func hevcUnits(_ data: ArraySlice<UInt8>, _ budget: inout Int) -> PixelSize? {
        var largest: PixelSize?
        var position = 0
        while budget > 0, let length = data.number(at: position, bytes: 4),
            let unit = data.slice(at: position + 4, count: length)
        {
            budget -= 1
            largest = .larger(largest, HEVCParameterSet.size(in: unit))
            position += 4 + length
        }
        return largest
    }

    /// What a grid or an overlay is put together on (ISO/IEC 23008-12 section 6.6.2).
    private static func canvas(_ data: ArraySlice<UInt8>, at offset: Int) -> PixelSize? {
        guard let flags = data.number(at: 1, bytes: 1) else { return nil }
        let size = flags & 1 == 1 ? 4 : 2
        guard let width = data.number(at: offset, bytes: size),
            let height = data.number(at: offset + size, bytes: size)
        else { return nil }
        return PixelSize(width: width, height: height)
    }
}

extension PixelSize {
    /// The one with more pixels.
    static func larger(_ first: PixelSize?, _ second: PixelSize?) -> PixelSize? {
        guard let first, let second else { return first ?? second }
        return Double(first.width) * Double(first.height) >= Double(second.width) * Double(second.height)
            ? first : second
    }
}
