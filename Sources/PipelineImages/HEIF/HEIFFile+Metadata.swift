#if AVIF || HEIC
extension HEIFFile {
    /// Returns the file's metadata. A block that can't be read counts as missing.
    func metadata(of picture: HEIFPicture) -> EmbeddedMetadata {
        var metadata = EmbeddedMetadata()
        metadata.profile = picture.profile
        metadata.exif = exif
        metadata.xmp = blocks(Self.isXMP).first.map(Array.init) ?? []
        metadata.mastering = MasteringMetadata(in: self)
        return metadata
    }

    /// The EXIF block; empty without one.
    var exif: [UInt8] { blocks { $0.type == "Exif" }.lazy.map(Self.exif).first { !$0.isEmpty } ?? [] }

    /// The XMP packet that describes an item; empty without one.
    func xmp(of id: Int) -> ArraySlice<UInt8> {
        let sources = (self.sources[id] ?? []).lazy.filter { reference in
            reference.type == "cdsc" && items[reference.item].map(Self.isXMP) == true
        }
        return sources.prefix(4).lazy.compactMap { try? data(of: $0.item) }.first ?? []
    }

    private static func isXMP(_ item: Item) -> Bool {
        item.type == "mime" && item.contentType.elementsEqual("application/rdf+xml".utf8)
    }

    /// Returns the blocks of one kind, those that describe the primary item first.
    private func blocks(_ isWanted: (Item) -> Bool) -> [ArraySlice<UInt8>] {
        let found = items.filter { isWanted($0.value) }.keys.sorted()
        let own = found.filter { id in
            targets[id]?.contains { $0.type == "cdsc" && $0.item == primary } == true
        }
        return (own + found).prefix(4).compactMap { try? data(of: $0) }
    }

    /// Finds the EXIF block. Its offset precedes it (ISO/IEC 23008-12 annex A.2.1), but some phones count from
    /// elsewhere, so the block's start is searched for too.
    private static func exif(_ block: ArraySlice<UInt8>) -> [UInt8] {
        if let offset = block.number(at: 0, bytes: 4), offset < block.count {
            let exif = EmbeddedMetadata.exif(Array(block.dropFirst(4 + offset)))
            if !exif.isEmpty { return exif }
        }
        let starts: [[UInt8]] = [[0x49, 0x49, 42, 0], [0x4d, 0x4d, 0, 42]]
        let place = block.indices.prefix(64).first { index in starts.contains { block[index...].starts(with: $0) } }
        return place.map { EmbeddedMetadata.exif(Array(block[$0...])) } ?? []
    }

    /// The number of pictures to show, without tiles, thumbnails, transparency and hidden items.
    var pictures: Int {
        let kinds: Set = ["av01", "hvc1", "grid", "iden", "iovl"]
        let shown = items.filter { id, item in
            kinds.contains(item.type) && !item.isHidden
                && targets[id]?.contains { ["thmb", "auxl"].contains($0.type) } != true
                && sources[id]?.contains { $0.type == "dimg" } != true
        }
        return max(1, shown.count)
    }
}
#endif
