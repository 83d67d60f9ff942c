#if AVIF || HEIC
import Pipeline

extension HEIFFile {
    /// Reads the locations of the items' bytes (ISO/IEC 14496-12 section 8.11.3).
    /// - Parameter idat: The box that may hold items inside the list.
    mutating func readLocations(
        _ content: ArraySlice<UInt8>, idat: ArraySlice<UInt8>?, _ budget: inout Int
    ) throws {
        guard let version = content.first, version <= 2, let sizes = content.number(at: 4, bytes: 2) else {
            throw damaged("its list of locations makes no sense")
        }
        let (offsetSize, lengthSize, baseSize) = (sizes >> 12, sizes >> 8 & 15, sizes >> 4 & 15)
        let indexSize = version > 0 ? sizes & 15 : 0
        guard [offsetSize, lengthSize, baseSize, indexSize].allSatisfy([0, 4, 8].contains) else {
            throw damaged("its list of locations makes no sense")
        }
        let idSize = version < 2 ? 2 : 4
        let reason = damaged("its list of locations is cut off")
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
            guard seen.insert(id).inserted else { throw damaged("it has two locations of item \(id)") }
            let whole = method == 1 ? (idat ?? []) : bytes[...]
            var extents: [Range<Int>] = []
            for _ in 0..<count {
                position += indexSize
                let (offset, length) = (try take(offsetSize), try take(lengthSize))
                let (start, overflows) = base.addingReportingOverflow(offset)
                guard !overflows, start <= Int.max >> 2, length <= Int.max >> 2 else {
                    throw damaged("item \(id) lies outside of the file")
                }
                // A single extent without a length extends to the end.
                guard length > 0 || count == 1 else { throw damaged("item \(id) has an empty part") }
                let end = length > 0 ? start + length : max(start, whole.count)
                // A part that leaves its box would overlap other data.
                guard method != 1 || end <= whole.count else { throw damaged("item \(id) leaves its box") }
                extents.append(whole.startIndex + start..<whole.startIndex + end)
            }
            place(id, at: extents, isElsewhere: method > 1 || source != 0)
        }
    }

    /// Returns an item's bytes.
    /// - Throws: `undecodable` if the file ends too soon, or the parts of the item overlap; `unsupportedType` if the
    ///   item is encrypted or lies elsewhere.
    func data(of id: Int) throws -> ArraySlice<UInt8> {
        guard let item = items[id] else { throw damaged("it has no item \(id)") }
        if item.isElsewhere { throw unsupported("keeps its picture in another file or item") }
        if item.isProtected { throw unsupported("is encrypted") }
        let length = item.extents.reduce(0) { $0 + $1.count }
        guard length > 0, item.extents.allSatisfy({ $0.upperBound <= bytes.count }) else {
            throw damaged("it ends too soon")
        }
        if item.extents.count == 1 { return bytes[item.extents[0]] }
        // Parts without overlap are no larger than the file together.
        guard length <= bytes.count else { throw damaged("the parts of item \(id) overlap") }
        return ArraySlice(item.extents.flatMap { bytes[$0] })
    }
}
#endif
