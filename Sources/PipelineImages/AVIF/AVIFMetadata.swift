#if AVIF
import Pipeline

/// Adds metadata to an AVIF file that an encoder has written.
///
/// libvips and libavif parse the EXIF that they are given, in C, and it comes from the source file. Here the blocks are
/// only copied: EXIF and XMP become items that describe the picture (ISO/IEC 23008-12 annex A), and the profile becomes
/// one of its properties (section 6.5.5).
struct AVIFMetadata {
    private let file: HEIFFile
    private let primary: Int
    private let parts: [ISOBox]
    /// The boxes of the list of items.
    private let list: [ISOBox]
    /// How many bytes of the file precede everything that moves.
    private let fixed: Int
    /// A new property `colr` (ISO/IEC 14496-12 section 12.1.5) that describes the colours; empty for none.
    private let colors: [UInt8]
    /// Whether it takes the place of the encoder's own.
    private let replacesColors: Bool
    /// The new items.
    private var items: [(id: Int, type: String, data: [UInt8])] = []

    /// Returns the file with the metadata added.
    /// - Throws: `LoadError.Code.unencodable` if the encoder has written a file of an unexpected structure.
    static func added(
        _ metadata: EmbeddedMetadata, to file: [UInt8], _ cancellation: WorkCancellation
    ) throws -> [UInt8] {
        metadata.isEmpty ? file : try AVIFMetadata(metadata, file, cancellation).bytes()
    }

    private init(_ metadata: EmbeddedMetadata, _ bytes: [UInt8], _ cancellation: WorkCancellation) throws {
        file = try HEIFFile(bytes, format: .avif, cancellation: cancellation)
        var budget = HEIFFile.mostParts
        parts = ISOBox.boxes(in: bytes[...], budget: &budget)
        guard let meta = parts.first(where: { $0.type == "meta" }), let primary = file.primary else {
            throw Self.refused
        }
        list = ISOBox.boxes(in: meta.content.dropFirst(4), budget: &budget)
        (self.primary, fixed) = (primary, meta.content.endIndex)
        if let new = metadata.colors {
            // The encoder's matrix and range stay.
            let own = file.properties.lazy.compactMap { CodedColors(nclx: $0.content) }.first
            replacesColors = own != nil
            colors =
                Array("nclx".utf8) + new.primaries.bigEndian(2) + new.transfer.bigEndian(2)
                + (own?.matrix ?? 6).bigEndian(2) + [own?.isFullRange ?? true ? 128 : 0]
        } else {
            replacesColors = false
            colors = metadata.profile.isEmpty ? [] : Array("prof".utf8) + metadata.profile
        }
        let next = (file.items.keys.max() ?? 0) + 1
        if !metadata.exif.isEmpty { items.append((next, "Exif\0", 0.bigEndian(4) + metadata.exif)) }
        if !metadata.xmp.isEmpty { items.append((next + 1, "mime\0application/rdf+xml\0", metadata.xmp)) }
    }

    private func bytes() throws -> [UInt8] {
        // The size of the list doesn't depend on the offsets in it.
        let size = list.reduce(12) { $0 + $1.content.count + 8 }
        let growth = try meta(growth: 0).count - size
        let whole = try parts.flatMap { part in
            part.type == "meta" ? try meta(growth: growth) : part.movingChunks(by: growth)
        }
        return items.isEmpty ? whole : whole + ISOBox.bytes("mdat", items.flatMap(\.data))
    }

    private func meta(growth: Int) throws -> [UInt8] {
        let references = items.flatMap {
            ISOBox.bytes("cdsc", $0.id.bigEndian(2) + 1.bigEndian(2) + primary.bigEndian(2))
        }
        var content = 0.bigEndian(4)
        for box in list {
            switch box.type {
            case "iinf": content += try ISOBox.bytes("iinf", entries(box.content))
            case "iloc": content += try ISOBox.bytes("iloc", locations(growth: growth))
            case "iprp" where !colors.isEmpty: content += try ISOBox.bytes("iprp", properties(box.content))
            case "iref":
                guard box.content.first == 0 else { throw Self.refused }
                content += ISOBox.bytes("iref", box.content + references)
            default: content += box.bytes
            }
        }
        if !references.isEmpty, !list.contains(where: { $0.type == "iref" }) {
            content += ISOBox.bytes("iref", 0.bigEndian(4) + references)
        }
        return ISOBox.bytes("meta", content)
    }

    /// Adds the new items' entries to the list of types (ISO/IEC 14496-12 section 8.11.6).
    private func entries(_ content: ArraySlice<UInt8>) throws -> [UInt8] {
        guard content.first == 0, let count = content.number(at: 4, bytes: 2) else { throw Self.refused }
        // Version 2. The flag hides them from programs that show each item as a picture.
        let added = items.flatMap { ISOBox.bytes("infe", [2, 0, 0, 1] + $0.id.bigEndian(2) + [0, 0] + $0.type.utf8) }
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

    /// Adds the profile to the properties, and associates the picture with it (section 8.11.14).
    private func properties(_ content: ArraySlice<UInt8>) throws -> [UInt8] {
        var budget = HEIFFile.mostParts
        return try ISOBox.boxes(in: content, budget: &budget).flatMap { box -> [UInt8] in
            switch box.type {
            case "ipco":
                guard replacesColors else {
                    return ISOBox.bytes("ipco", box.content + ISOBox.bytes("colr", colors))
                }
                return ISOBox.bytes(
                    "ipco",
                    file.properties.flatMap {
                        CodedColors(nclx: $0.content) == nil ? Array($0.bytes) : ISOBox.bytes("colr", colors)
                    })
            case "ipma" where !replacesColors: return ISOBox.bytes("ipma", try associations(box.content))
            default: return box.bytes
            }
        }
    }

    private func associations(_ content: ArraySlice<UInt8>) throws -> [UInt8] {
        let index = file.properties.count + 1
        // Version 0, with indexes of 7 bits.
        guard content.prefix(4).allSatisfy({ $0 == 0 }), index < 128, let count = content.number(at: 4, bytes: 4)
        else { throw Self.refused }
        var (bytes, position) = (Array(content), 8)
        for _ in 0..<count {
            guard let id = content.number(at: position, bytes: 2),
                let own = content.number(at: position + 2, bytes: 1), own < 255
            else { throw Self.refused }
            position += 3
            if id == primary {
                bytes[position - 1] += 1
                bytes.insert(UInt8(index), at: position + own)
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
