/// The index of a JPEG with several pictures (CIPA DC-007 section 5.2).
struct MultiPictureIndex {
    /// Where the pictures after the first one begin in the file, as the index says.
    let places: [Int]

    /// More pictures than a genuine file has. The others are ignored.
    static let most = 16
    private static let entriesTag = 0xb002

    /// - Parameter content: The segment after its name, as a part of the file.
    init(_ content: ArraySlice<UInt8>) {
        guard let block = EXIFBlock(content),
            let entries = block.mainEntries.first(where: { $0.tag == Self.entriesTag })
        else {
            places = []
            return
        }
        // An entry has 16 bytes: kind, size, place, and two numbers of pictures that belong to it. Places count from
        // the segment's byte order.
        places = (0..<min(block.length(of: entries) / 16, Self.most)).compactMap { index in
            guard let offset = block.number(at: entries.value + 16 * index + 8, bytes: 4), offset > 0 else {
                return nil
            }
            return content.startIndex + offset
        }
    }
}

/// The directory of the pictures in a file, in the XMP of its first picture (Ultra HDR image format 1.1, `GContainer`).
struct PictureDirectory {
    private static let container = "http://ns.google.com/photos/1.0/container/"

    private var items: [(isMap: Bool, length: Int)] = []

    init(_ xmp: XMPProperties) {
        for property in xmp.all {
            switch property.name {
            case Self.container + "Item": items.append((false, 0))
            case Self.container + "item/Semantic" where !items.isEmpty:
                items[items.count - 1].isMap = property.value == "GainMap"
            case Self.container + "item/Length" where !items.isEmpty:
                items[items.count - 1].length = max(0, Int(property.value) ?? 0)
            default: continue
            }
            if items.count > MultiPictureIndex.most { break }
        }
    }

    /// Where gain maps begin in a file of some bytes. Its pictures follow each other up to its end.
    func places(in count: Int) -> [Int] {
        var (end, places) = (count, [Int]())
        for item in items.reversed() {
            guard item.length <= end else { break }
            end -= item.length
            if item.isMap, item.length > 0 { places.append(end) }
        }
        return places
    }
}
