#if AVIF
import Pipeline

/// Adds metadata and a gain map to an AVIF file that an encoder has written.
///
/// libvips and libavif parse the EXIF that they are given, in C, and it comes from the source file. Here the blocks are
/// only copied: EXIF and XMP become items that describe the picture (ISO/IEC 23008-12 annex A), and the profile becomes
/// one of its properties (section 6.5.5). The map's picture becomes an item too, and both are the inputs of an item `tmap`
/// (section 6.6.2.4), which readers are to prefer. libavif writes one only from version 1.1 on.
struct AVIFMetadata {
    private let file: HEIFFile
    private let primary: Int
    private let parts: [ISOBox]
    /// The boxes of the list of items.
    private let list: [ISOBox]
    /// How many bytes of the file precede everything that moves.
    private let fixed: Int
    /// A property `colr` (ISO/IEC 14496-12 section 12.1.5) that takes the place of the encoder's own; empty for none.
    private let newColors: [UInt8]
    /// New properties of the picture: its profile, `mdcv` and `clli` (sections 12.1.5 to 12.1.7).
    private let added: [[UInt8]]
    private struct Item {
        let id: Int
        /// The type and what follows it in the item's entry.
        let type: String
        let data: [UInt8]
        /// Programs don't show it as a picture of its own.
        var isHidden = true
        /// The boxes of its own properties.
        var properties: [(box: [UInt8], isEssential: Bool)] = []
        /// What it is made of; empty for an item that describes the picture.
        var inputs: [Int] = []
    }

    /// The new items.
    private var items: [Item] = []

    /// Returns the file with the metadata and the gain map added.
    /// - Parameter map: The map's own file, and its parameters.
    /// - Throws: `LoadError.Code.unencodable` if the encoder has written a file of an unexpected structure.
    static func added(
        _ metadata: EmbeddedMetadata, _ map: (file: [UInt8], gains: GainMap)? = nil, to file: [UInt8],
        _ cancellation: WorkCancellation
    ) throws -> [UInt8] {
        guard !metadata.isEmpty || map != nil else { return file }
        return try AVIFMetadata(metadata, map, file, cancellation).bytes()
    }

    private init(
        _ metadata: EmbeddedMetadata, _ map: (file: [UInt8], gains: GainMap)?, _ bytes: [UInt8],
        _ cancellation: WorkCancellation
    ) throws {
        file = try HEIFFile(bytes, format: .avif, cancellation: cancellation)
        var budget = HEIFFile.mostParts
        parts = ISOBox.boxes(in: bytes[...], budget: &budget)
        guard let meta = parts.first(where: { $0.type == "meta" }), let primary = file.primary else {
            throw Self.refused
        }
        list = ISOBox.boxes(in: meta.content.dropFirst(4), budget: &budget)
        (self.primary, fixed) = (primary, meta.content.endIndex)
        let colors: [UInt8]
        if let new = metadata.colors {
            // The encoder's matrix and range stay.
            let own = file.properties.lazy.compactMap { CodedColors(nclx: $0.content) }.first
            let content =
                Array("nclx".utf8) + new.primaries.bigEndian(2) + new.transfer.bigEndian(2)
                + (own?.matrix ?? 6).bigEndian(2) + [own?.isFullRange ?? true ? 128 : 0]
            (newColors, colors) = own == nil ? ([], content) : (content, [])
        } else {
            newColors = []
            colors = metadata.profile.isEmpty ? [] : Array("prof".utf8) + metadata.profile
        }
        let (display, light) = metadata.mastering?.blocks(isPNG: false) ?? ([], [])
        added = [("colr", colors), ("mdcv", display), ("clli", light)].compactMap { type, content in
            content.isEmpty ? nil : ISOBox.bytes(type, content)
        }
        let next = (file.items.keys.max() ?? 0) + 1
        if !metadata.exif.isEmpty {
            items.append(Item(id: next, type: "Exif\0", data: 0.bigEndian(4) + metadata.exif))
        }
        if !metadata.xmp.isEmpty {
            items.append(Item(id: next + 1, type: "mime\0application/rdf+xml\0", data: metadata.xmp))
        }
        guard let map else { return }
        let own = try HEIFFile(map.file, format: .avif, cancellation: cancellation)
        guard let picture = own.primary, own.items[picture]?.type == "av01" else { throw Self.refused }
        func boxes(_ file: HEIFFile, _ id: Int, _ types: [String]) -> [(box: [UInt8], isEssential: Bool)] {
            (file.items[id]?.properties ?? []).compactMap { place in
                let box = file.properties[place.index]
                return types.contains(box.type) ? (Array(box.bytes), place.isEssential) : nil
            }
        }
        items.append(
            Item(
                id: next + 2, type: "av01\0", data: Array(try own.data(of: picture)),
                properties: boxes(own, picture, ["av1C", "ispe", "pixi", "colr"])))
        items.append(
            Item(
                id: next + 3, type: "tmap\0", data: [0] + map.gains.parameters.iso, isHidden: false,
                properties: boxes(file, primary, ["ispe", "pixi"]) + [(alternateColors(map.gains, metadata), false)],
                inputs: [primary, next + 2]))
    }

    /// The property `colr` of the picture with the whole map: PQ light with the picture's primaries, unless the map says
    /// otherwise.
    private func alternateColors(_ map: GainMap, _ metadata: EmbeddedMetadata) -> [UInt8] {
        let own = ICCProfile.withPrimaries.first { $0.value == map.profile }?.key
        guard map.profile.isEmpty || own != nil else {
            return ISOBox.bytes("colr", Array("prof".utf8) + map.profile)
        }
        let primaries = own ?? metadata.colors?.primaries ?? 1
        let codes = [primaries, map.parameters.isBaseHDR ? 13 : 16, 0].flatMap { $0.bigEndian(2) as [UInt8] }
        return ISOBox.bytes("colr", Array("nclx".utf8) + codes + [128])
    }

    private var hasMap: Bool { items.contains { !$0.inputs.isEmpty } }

    private func bytes() throws -> [UInt8] {
        // The size of the list doesn't depend on the offsets in it.
        let size = list.reduce(12) { $0 + $1.content.count + 8 }
        let brand = hasMap ? Array("tmap".utf8) : []
        let growth = try meta(growth: 0).count - size + brand.count
        let whole = try parts.flatMap { part in
            switch part.type {
            case "meta": try meta(growth: growth)
            case "ftyp": ISOBox.bytes("ftyp", part.content + brand)
            default: part.movingChunks(by: growth)
            }
        }
        return items.isEmpty ? whole : whole + ISOBox.bytes("mdat", items.flatMap(\.data))
    }

    private func meta(growth: Int) throws -> [UInt8] {
        // The map is only an input.
        let references = items.filter { $0.properties.isEmpty || !$0.inputs.isEmpty }.flatMap { item -> [UInt8] in
            let targets = item.inputs.isEmpty ? [primary] : item.inputs
            return ISOBox.bytes(
                item.inputs.isEmpty ? "cdsc" : "dimg",
                item.id.bigEndian(2) + targets.count.bigEndian(2) + targets.flatMap { $0.bigEndian(2) as [UInt8] })
        }
        var content = 0.bigEndian(4)
        for box in list {
            switch box.type {
            case "iinf": content += try ISOBox.bytes("iinf", entries(box.content))
            case "iloc": content += try ISOBox.bytes("iloc", locations(growth: growth))
            case "iprp" where !newColors.isEmpty || !added.isEmpty || hasMap:
                content += try ISOBox.bytes("iprp", properties(box.content))
            case "iref":
                guard box.content.first == 0 else { throw Self.refused }
                content += ISOBox.bytes("iref", box.content + references)
            default: content += box.bytes
            }
        }
        if !references.isEmpty, !list.contains(where: { $0.type == "iref" }) {
            content += ISOBox.bytes("iref", 0.bigEndian(4) + references)
        }
        if let toned = items.first(where: { !$0.inputs.isEmpty }) {
            // Readers show the first that they understand (ISO/IEC 14496-12 section 8.18.3).
            let group = 0.bigEndian(4) + (toned.id + 1).bigEndian(4) + 2.bigEndian(4) as [UInt8]
            let members = toned.id.bigEndian(4) + primary.bigEndian(4) as [UInt8]
            content += ISOBox.bytes("grpl", ISOBox.bytes("altr", group + members))
        }
        return ISOBox.bytes("meta", content)
    }

    /// Adds the new items' entries to the list of types (ISO/IEC 14496-12 section 8.11.6).
    private func entries(_ content: ArraySlice<UInt8>) throws -> [UInt8] {
        guard content.first == 0, let count = content.number(at: 4, bytes: 2) else { throw Self.refused }
        // Version 2, with the flag that hides an item.
        let added = items.flatMap {
            ISOBox.bytes("infe", [2, 0, 0, $0.isHidden ? 1 : 0] + $0.id.bigEndian(2) + [0, 0] + $0.type.utf8)
        }
        return 0.bigEndian(4) + (count + items.count).bigEndian(2) + content.dropFirst(6) + added
    }

    /// The locations of all items (section 8.11.3), with offsets of 4 bytes from the start of the file. The new ones are
    /// at its end, behind the header of their box.
    private func locations(growth: Int) throws -> [UInt8] {
        var places = file.items.map { (id: $0, extents: $1.extents) }
        var end = file.bytes.count + 8
        for item in items {
            places.append((item.id, [end..<end + item.data.count]))
            end += item.data.count
        }
        guard end + growth < 1 << 32 else { throw Self.refused }
        var content: [UInt8] = [0, 0, 0, 0, 0x44, 0] + places.count.bigEndian(2)
        for (id, extents) in places.sorted(by: { $0.id < $1.id }) {
            guard id < 1 << 16, extents.allSatisfy({ $0.lowerBound >= fixed }) else { throw Self.refused }
            content += id.bigEndian(2) + 0.bigEndian(2) + extents.count.bigEndian(2)
            for extent in extents {
                content += (extent.lowerBound + growth).bigEndian(4) + extent.count.bigEndian(4)
            }
        }
        return content
    }

    /// Adds the profile and the new items' properties, and associates the picture and the items with them (section 8.11.14).
    private func properties(_ content: ArraySlice<UInt8>) throws -> [UInt8] {
        var budget = HEIFFile.mostParts
        return try ISOBox.boxes(in: content, budget: &budget).flatMap { box -> [UInt8] in
            switch box.type {
            case "ipco":
                var list = file.properties.flatMap { own in
                    !newColors.isEmpty && CodedColors(nclx: own.content) != nil
                        ? ISOBox.bytes("colr", newColors) : Array(own.bytes)
                }
                list += added.flatMap(\.self)
                return ISOBox.bytes("ipco", list + items.flatMap { $0.properties.flatMap(\.box) })
            case "ipma": return ISOBox.bytes("ipma", try associations(box.content))
            default: return box.bytes
            }
        }
    }

    private func associations(_ content: ArraySlice<UInt8>) throws -> [UInt8] {
        var next = file.properties.count + added.count
        let new = items.filter { !$0.properties.isEmpty }.map { item -> [UInt8] in
            item.id.bigEndian(2) + [UInt8(item.properties.count)]
                + item.properties.map { property in
                    next += 1
                    return UInt8(truncatingIfNeeded: next) | (property.isEssential ? 0x80 : 0)
                }
        }
        // Version 0, with indexes of 7 bits.
        guard content.prefix(4).allSatisfy({ $0 == 0 }), next < 128, let count = content.number(at: 4, bytes: 4)
        else { throw Self.refused }
        var (bytes, position) = (Array(content) + new.joined(), 8)
        bytes.replaceSubrange(4..<8, with: (count + new.count).bigEndian(4))
        guard !added.isEmpty else { return bytes }
        for _ in 0..<count {
            guard let id = content.number(at: position, bytes: 2),
                let own = content.number(at: position + 2, bytes: 1), own + added.count < 256
            else { throw Self.refused }
            position += 3
            if id == primary {
                bytes[position - 1] += UInt8(added.count)
                bytes.insert(
                    contentsOf: added.indices.map { UInt8(file.properties.count + 1 + $0) }, at: position + own)
                return bytes
            }
            position += own
        }
        throw Self.refused
    }

    private static let refused = LoadError(
        .unencodable, subject: "",
        "Metadata can't be added to the image/avif file: its encoder wrote an unknown structure. Leave the metadata out."
    )
}
#endif
