/// An item of a HEIF file and where its bytes lie (ISO/IEC 14496-12 sections 8.11.3 and 8.11.6).
struct HEIFItem {
    /// Such as `av01`, `hvc1` or `grid`.
    let type: String
    let extents: [ArraySlice<UInt8>]

    /// The items of a file's `meta` box.
    /// - Parameter budget: counts down with each part; at zero, nobody should go on.
    static func items(of file: ArraySlice<UInt8>, meta: [ISOBox], budget: inout Int) -> [HEIFItem] {
        guard let locations = meta.first(where: { $0.type == "iloc" })?.content, let version = locations.first,
            let sizes = locations.number(at: 4, bytes: 2)
        else { return [] }
        let types = types(meta.first { $0.type == "iinf" }?.content ?? [], &budget)
        let data = meta.first { $0.type == "idat" }?.content ?? []
        let (offsetSize, lengthSize, baseSize) = (sizes >> 12, sizes >> 8 & 15, sizes >> 4 & 15)
        let indexSize = version > 0 ? sizes & 15 : 0
        let idSize = version < 2 ? 2 : 4
        var position = 6
        func take(_ size: Int) -> Int? {
            defer { position += size }
            return locations.number(at: position, bytes: size)
        }
        var items: [HEIFItem] = []
        let count = take(idSize) ?? 0
        while budget > 0, items.count < count, let id = take(idSize) {
            guard let method = version > 0 ? take(2) : 0, take(2) != nil, let base = take(baseSize),
                let extentCount = take(2)
            else { break }
            var extents: [ArraySlice<UInt8>] = []
            budget -= 1 + extentCount
            for _ in 0..<(budget > 0 ? extentCount : 0) {
                position += indexSize
                guard let offset = take(offsetSize), let length = take(lengthSize) else { break }
                let whole = method & 15 == 1 ? data : file
                let (start, overflow) = base.addingReportingOverflow(offset)
                guard !overflow else { continue }
                let rest = whole.dropFirst(start)
                extents.append(length == 0 ? rest : rest.prefix(length))
            }
            items.append(HEIFItem(type: types[id] ?? "", extents: extents))
        }
        return items
    }

    private static func types(_ information: ArraySlice<UInt8>, _ budget: inout Int) -> [Int: String] {
        let countSize = information.first == 0 ? 2 : 4
        var types: [Int: String] = [:]
        for entry in ISOBox.boxes(in: information.dropFirst(4 + countSize), budget: &budget)
        where entry.type == "infe" {
            guard let version = entry.content.first, version >= 2 else { continue }
            let idSize = version == 2 ? 2 : 4
            guard let id = entry.content.number(at: 4, bytes: idSize),
                let type = entry.content.slice(at: 6 + idSize, count: 4)
            else { continue }
            types[id] = String(decoding: type, as: UTF8.self)
        }
        return types
    }
}
