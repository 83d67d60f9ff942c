import Pipeline

extension HEIFFile {
    /// Reads where the items' bytes lie (ISO/IEC 14496-12 section 8.11.3).
    /// - Parameter idat: the box that items may lie in instead of the file.
    mutating func readLocations(
        _ content: ArraySlice<UInt8>, idat: ArraySlice<UInt8>?, _ budget: inout Int
    ) throws {
        guard let version = content.first, version <= 2, let sizes = content.number(at: 4, bytes: 2) else {
            throw damaged("its list of places makes no sense")
        }
        let (offsetSize, lengthSize, baseSize) = (sizes >> 12, sizes >> 8 & 15, sizes >> 4 & 15)
        let indexSize = version > 0 ? sizes & 15 : 0
        guard [offsetSize, lengthSize, baseSize, indexSize].allSatisfy([0, 4, 8].contains) else {
            throw damaged("its list of places makes no sense")
        }
        let idSize = version < 2 ? 2 : 4
        let reason = damaged("its list of places is cut off")
        var position = 6
        func take(_ size: Int) throws -> Int {
            defer { position += size }
            guard let number = content.number(at: position, bytes: size) else { throw reason }
            return number
        }
        var seen: Set<Int> = []
        for _ in 0..<(try take(idSize)) {
            let id = try take(idSize)
            let method = version > 0 ? try take(2) & 15 : 0
            let source = try take(2)
            let base = try take(baseSize)
            let count = try take(2)
            budget -= 1 + count
            guard budget > 0 else { throw tooManyParts }
            guard seen.insert(id).inserted else { throw damaged("it has two places of item \(id)") }
            let whole = method == 1 ? (idat ?? []) : bytes[...]
            var extents: [Range<Int>] = []
            for _ in 0..<count {
                position += indexSize
                let (offset, length) = (try take(offsetSize), try take(lengthSize))
                let (start, overflows) = base.addingReportingOverflow(offset)
                guard !overflows, start <= Int.max >> 2, length <= Int.max >> 2 else {
                    throw damaged("item \(id) lies outside of the file")
                }
                // Without a length a single extent goes to the end.
                guard length > 0 || count == 1 else { throw damaged("item \(id) has an empty part") }
                let end = length > 0 ? start + length : max(start, whole.count)
                // A part that leaves its box would reach what belongs to others.
                guard method != 1 || end <= whole.count else { throw damaged("item \(id) leaves its box") }
                extents.append(whole.startIndex + start..<whole.startIndex + end)
            }
            place(id, at: extents, isElsewhere: method > 1 || source != 0)
        }
    }

    /// An item's bytes.
    /// - Throws: `undecodable` if the file ends before them, or the same byte is in more than one part of the item.
    func data(of id: Int) throws -> ArraySlice<UInt8> {
        guard let item = items[id] else { throw damaged("it has no item \(id)") }
        if item.isElsewhere { throw unsupported("keeps its picture in another place than itself") }
        if item.isProtected { throw unsupported("is encrypted") }
        let length = item.extents.reduce(0) { $0 + $1.count }
        guard length > 0, item.extents.allSatisfy({ $0.upperBound <= bytes.count }) else {
            throw damaged("it ends too soon")
        }
        if item.extents.count == 1 { return bytes[item.extents[0]] }
        // Parts of one item don't overlap: joined, they are no larger than the file.
        guard length <= bytes.count else { throw damaged("the parts of item \(id) overlap") }
        return ArraySlice(item.extents.flatMap { bytes[$0] })
    }
}
