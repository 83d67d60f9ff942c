/// The bits a channel of a HEIF file, by the configuration of its codec.
enum HEIFDepth {
    /// The largest of all items; `nil` if none says it.
    static func bits(in bytes: [UInt8]) -> Int? {
        // As many parts as an honest file has by far.
        var budget = 10_000
        guard let meta = ISOBox.boxes(in: bytes[...], budget: &budget).first(where: { $0.type == "meta" }) else {
            return nil
        }
        var largest: Int?
        for properties in ISOBox.boxes(in: meta.content.dropFirst(4), budget: &budget) where properties.type == "iprp" {
            for container in ISOBox.boxes(in: properties.content, budget: &budget) where container.type == "ipco" {
                for property in ISOBox.boxes(in: container.content, budget: &budget) {
                    guard let bits = bits(property) else { continue }
                    largest = max(largest ?? 0, bits)
                }
            }
        }
        return largest
    }

    private static func bits(_ property: ISOBox) -> Int? {
        switch property.type {
        case "av1C":
            // Behind the tier: more than 8 bits, and then 12 instead of 10.
            guard let flags = property.content.number(at: 2, bytes: 1) else { return nil }
            return flags & 0x40 == 0 ? 8 : flags & 0x20 == 0 ? 10 : 12
        case "hvcC": return property.content.number(at: 17, bytes: 1).map { ($0 & 7) + 8 }
        default: return nil
        }
    }
}
