#if AVIF || HEIC
import Pipeline

/// The items of a HEIF or AVIF file, read from its `meta` box (ISO/IEC 14496-12 section 8.11).
///
/// Reading depends only on the bytes, and its cost is linear in their number. Ambiguous files, such as those with a
/// second `meta` box or two entries of one item, are refused.
struct HEIFFile {
    struct Item {
        /// The type, such as `av01`, `hvc1` or `grid`; empty if the file doesn't say.
        var type = ""
        var isHidden = false
        var isProtected = false
        /// The media type of a `mime` item.
        var contentType: ArraySlice<UInt8> = []
        /// The ranges of its bytes, which may exceed the file.
        var extents: [Range<Int>] = []
        /// Whether its bytes are in another file or in another item.
        var isElsewhere = false
        /// Indices of properties, in the order of association.
        var properties: [(index: Int, isEssential: Bool)] = []
    }

    struct Reference {
        let type: String
        let item: Int
    }

    let bytes: [UInt8]
    let format: ImageFormat
    private(set) var primary: Int?
    private(set) var items: [Int: Item] = [:]
    private(set) var properties: [ISOBox] = []
    /// The references from each item, and those to each item.
    private(set) var targets: [Int: [Reference]] = [:]
    private(set) var sources: [Int: [Reference]] = [:]
    /// Whether a box has a manifest store.
    let hasProvenance: Bool
    /// Items with two lists of inputs.
    private(set) var ambiguous: Set<Int> = []
    /// The groups of items that stand for each other, the preferred one first (ISO/IEC 14496-12 section 8.18).
    private(set) var alternatives: [[Int]] = []
    /// Whether the file says that it has a picture made with a gain map.
    private(set) var hasGainMapBrand = false

    /// Far more parts than a genuine file has.
    static let mostParts = 30_000

    /// - Throws: `undecodable` if the list of items is invalid; `unsupportedType`; `CancellationError`.
    init(_ bytes: [UInt8], format: ImageFormat, cancellation: WorkCancellation) throws {
        self.bytes = bytes
        self.format = format
        try cancellation.check()
        var budget = Self.mostParts
        let boxes = ISOBox.boxes(in: bytes[...], budget: &budget)
        hasProvenance = boxes.contains { $0.manifestStore != nil }
        guard budget > 0 else { throw tooManyParts }
        let type = boxes.first { $0.type == "ftyp" }
        hasGainMapBrand = type.map { HEIFBrands.names(in: $0.content).contains("tmap") } ?? false
        let metas = boxes.filter { $0.type == "meta" }
        guard let meta = metas.first else {
            throw boxes.contains { $0.type == "moov" }
                ? unsupported("has only a sequence of pictures (a track)") : damaged("it has no list of items")
        }
        guard metas.count == 1 else { throw damaged("it has two lists of items") }
        guard meta.isWhole else { throw damaged("its list of items is cut off") }
        let parts = try unique(ISOBox.boxes(in: meta.content.dropFirst(4), budget: &budget))
        if let handler = parts["hdlr"]?.slice(at: 8, count: 4), !handler.elementsEqual("pict".utf8) {
            throw damaged("its list of items isn't for pictures")
        }
        if let content = parts["pitm"] {
            primary = content.number(at: 4, bytes: content.first == 0 ? 2 : 4)
        }
        if let content = parts["iinf"] { try readTypes(content, &budget) }
        try cancellation.check()
        if let content = parts["iloc"] { try readLocations(content, idat: parts["idat"], &budget) }
        try cancellation.check()
        if let content = parts["iref"] { try readReferences(content, &budget) }
        try cancellation.check()
        if let content = parts["iprp"] { try readProperties(content, &budget) }
        if let content = parts["grpl"] { readGroups(content, &budget) }
        guard budget > 0 else { throw tooManyParts }
    }

    /// Returns the content of each box that may occur only once.
    private func unique(_ boxes: [ISOBox]) throws -> [String: ArraySlice<UInt8>] {
        var parts: [String: ArraySlice<UInt8>] = [:]
        for box in boxes where ["hdlr", "pitm", "iinf", "iloc", "iref", "iprp", "idat", "grpl"].contains(box.type) {
            guard parts.updateValue(box.content, forKey: box.type) == nil else {
                throw damaged("it has two boxes \(box.type)")
            }
        }
        return parts
    }

    private mutating func readTypes(_ content: ArraySlice<UInt8>, _ budget: inout Int) throws {
        let entries = ISOBox.boxes(in: content.dropFirst(content.first == 0 ? 6 : 8), budget: &budget)
        for box in entries where box.type == "infe" {
            let entry = box.content
            // Earlier versions have no types.
            guard let version = entry.first, version >= 2 else { continue }
            let idSize = version == 2 ? 2 : 4
            guard let id = entry.number(at: 4, bytes: idSize), let type = entry.slice(at: 6 + idSize, count: 4) else {
                throw damaged("an item's entry is cut off")
            }
            guard items[id] == nil else { throw damaged("it has two entries of item \(id)") }
            var item = Item(type: String(decoding: type, as: UTF8.self))
            item.isHidden = (entry.number(at: 1, bytes: 3) ?? 0) & 1 == 1
            item.isProtected = entry.number(at: 4 + idSize, bytes: 2) != 0
            if item.type == "mime" {
                item.contentType = entry.dropFirst(10 + idSize).drop { $0 != 0 }.dropFirst().prefix { $0 != 0 }
            }
            items[id] = item
        }
    }

    private mutating func readReferences(_ content: ArraySlice<UInt8>, _ budget: inout Int) throws {
        let idSize = content.first == 0 ? 2 : 4
        for box in ISOBox.boxes(in: content.dropFirst(4), budget: &budget) {
            guard let from = box.content.number(at: 0, bytes: idSize),
                let count = box.content.number(at: idSize, bytes: 2)
            else { throw damaged("a reference is cut off") }
            budget -= count
            guard budget > 0 else { throw tooManyParts }
            if box.type == "dimg", targets[from]?.contains(where: { $0.type == "dimg" }) == true {
                ambiguous.insert(from)
            }
            for index in 0..<count {
                guard let to = box.content.number(at: idSize + 2 + index * idSize, bytes: idSize) else {
                    throw damaged("a reference is cut off")
                }
                targets[from, default: []].append(Reference(type: box.type, item: to))
                sources[to, default: []].append(Reference(type: box.type, item: from))
            }
        }
    }

    private mutating func readGroups(_ content: ArraySlice<UInt8>, _ budget: inout Int) {
        for box in ISOBox.boxes(in: content, budget: &budget) where box.type == "altr" {
            // Version, flags and the group's number come first.
            guard let count = box.content.number(at: 8, bytes: 4), count <= box.content.count / 4 else { continue }
            budget -= count
            guard budget > 0 else { return }
            alternatives.append((0..<count).compactMap { box.content.number(at: 12 + 4 * $0, bytes: 4) })
        }
    }

    private mutating func readProperties(_ content: ArraySlice<UInt8>, _ budget: inout Int) throws {
        let boxes = ISOBox.boxes(in: content, budget: &budget)
        let containers = boxes.filter { $0.type == "ipco" }
        guard containers.count <= 1 else { throw damaged("it has two lists of properties") }
        if let container = containers.first { properties = ISOBox.boxes(in: container.content, budget: &budget) }
        var seen: Set<Int> = []
        for box in boxes where box.type == "ipma" {
            try readAssociations(box.content, &seen, &budget)
        }
    }

    private mutating func readAssociations(
        _ content: ArraySlice<UInt8>, _ seen: inout Set<Int>, _ budget: inout Int
    ) throws {
        let idSize = content.first == 0 ? 2 : 4
        let indexSize = (content.number(at: 1, bytes: 3) ?? 0) & 1 == 1 ? 2 : 1
        var position = 8
        for _ in 0..<(content.number(at: 4, bytes: 4) ?? 0) {
            guard let id = content.number(at: position, bytes: idSize),
                let count = content.number(at: position + idSize, bytes: 1)
            else { throw damaged("its properties are cut off") }
            position += idSize + 1
            budget -= 1 + count
            guard budget > 0 else { throw tooManyParts }
            guard seen.insert(id).inserted else { throw damaged("it has two lists of the properties of item \(id)") }
            for _ in 0..<count {
                guard let word = content.number(at: position, bytes: indexSize) else {
                    throw damaged("its properties are cut off")
                }
                position += indexSize
                let flag = 1 << (8 * indexSize - 1)
                let index = word & (flag - 1)
                guard index <= properties.count else { throw damaged("item \(id) has a missing property") }
                // Zero means no property.
                if index > 0 { items[id]?.properties.append((index - 1, word & flag != 0)) }
            }
        }
    }

    /// Sets the location of an item's bytes.
    mutating func place(_ id: Int, at extents: [Range<Int>], isElsewhere: Bool) {
        items[id]?.extents = extents
        items[id]?.isElsewhere = isElsewhere
    }
}

extension HEIFFile {
    func damaged(_ reason: String) -> LoadError {
        LoadError(.undecodable, subject: "", "The \(format) file is damaged or cut off (\(reason)); get a new copy.")
    }

    func unsupported(_ reason: String) -> LoadError {
        LoadError(
            .unsupportedType, subject: "",
            "The \(format) file \(reason), which isn't read; single pictures and grids coded with AV1 or HEVC are. "
                + "Save it as one of these, or as a PNG.")
    }

    var tooManyParts: LoadError {
        LoadError(.undecodable, subject: "", "The \(format) file has too many parts for a picture.")
    }
}
#endif
