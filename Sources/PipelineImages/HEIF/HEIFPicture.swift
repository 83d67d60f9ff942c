#if AVIF || HEIC
import Pipeline

/// A picture of a HEIF file, ready for decoding. Its coded items have been checked against their bitstreams.
///
/// Libraries get nothing else: each coded item is rewritten as a file of its own (``HEIFCodedItem/file(in:colors:)``).
struct HEIFPicture {
    /// One coded item, or a grid of them that covers the canvas (ISO/IEC 23008-12 section 6.6.2.3).
    struct Tiles {
        let canvas: PixelSize
        let columns: Int
        let items: [HEIFCodedItem]
    }

    let color: Tiles
    let alpha: Tiles?
    /// Whether the colours are premultiplied by alpha.
    let isPremultiplied: Bool
    let geometry: HEIFGeometry
    /// The ICC profile; empty if there is none.
    let profile: [UInt8]
    /// The stored `nclx` property.
    let colors: ISOBox?
    /// The colours of that property.
    var codedColors: CodedColors? { colors.flatMap { CodedColors(nclx: $0.content) } }
    /// The upright size.
    var size: PixelSize { geometry.orientation.applied(to: geometry.size) }
    /// The first item. All have the same codec.
    let first: HEIFCodedItem

    /// The most pixels that decoding produces, as a size. It is the canvas unless the bitstreams hold more than tiles
    /// overlapping its edges explain.
    var codedSize: PixelSize {
        if color.items.count == 1, first.frames <= 1, alpha == nil {
            return .larger(first.coded, color.canvas) ?? color.canvas
        }
        let pixels = ([color] + (alpha.map { [$0] } ?? [])).map { tiles in
            tiles.items.reduce(0) { sum, item in
                let (sum, overflows) = sum.addingReportingOverflow(item.pixels)
                return overflows ? .max : sum
            }
        }
        let (most, area) = (pixels.max() ?? 0, color.canvas.bytes(1))
        guard most > area, most - area > area / 8, color.canvas.width > 0 else { return color.canvas }
        return PixelSize(width: color.canvas.width, height: most / color.canvas.width)
    }
}

extension HEIFFile {
    /// Reads and checks the picture of an item.
    /// - Parameter id: The primary item, or a thumbnail.
    /// - Throws: `undecodable`, `unsupportedType`, `CancellationError`.
    func picture(of id: Int, cancellation: WorkCancellation) throws -> HEIFPicture {
        var work = Work(left: 4 * bytes.count, cancellation: cancellation)
        let color = try tiles(of: id, instead: nil, &work)
        guard let first = color.items.first else { throw damaged("its grid is empty") }
        var alpha: HEIFPicture.Tiles?
        if let item = alphaItem(of: id) {
            let tiles = try tiles(of: item, instead: color.canvas, &work)
            guard tiles.canvas == color.canvas, tiles.items.first?.codec == first.codec else {
                throw unsupported("has a transparency of \(tiles.canvas) for a picture of \(color.canvas)")
            }
            alpha = tiles
        }
        let isPremultiplied = targets[id]?.contains { $0.type == "prem" } == true && alpha != nil
        let own = items[id]?.properties.map { properties[$0.index] } ?? []
        let all = own + (items[first.id]?.properties.map { properties[$0.index] } ?? [])
        return HEIFPicture(
            color: color, alpha: alpha, isPremultiplied: isPremultiplied,
            geometry: try HEIFGeometry(of: color.canvas, own, damaged: damaged), profile: Self.profile(all),
            colors: all.first { $0.type == "colr" && $0.content.prefix(4).elementsEqual("nclx".utf8) }, first: first)
    }

    /// The remaining budget of reading a picture.
    struct Work {
        /// Bytes of items; items may share bytes.
        var left: Int
        var parts = HEIFFile.mostParts
        let cancellation: WorkCancellation
    }

    static func profile(_ properties: [ISOBox]) -> [UInt8] {
        let box = properties.first { property in
            property.type == "colr" && ["prof", "rICC"].contains { property.content.prefix(4).elementsEqual($0.utf8) }
        }
        return box.map { Array($0.content.dropFirst(4)) } ?? []
    }

    /// The item that holds a picture's transparency (ISO/IEC 23008-12 section 6.6.2.1).
    private func alphaItem(of id: Int) -> Int? {
        let names = [
            "urn:mpeg:mpegB:cicp:systems:auxiliary:alpha", "urn:mpeg:hevc:2015:auxid:1", "urn:mpeg:avc:2015:auxid:1",
        ]
        return sources[id]?.first { reference in
            guard reference.type == "auxl", reference.item != id,
                let type = property("auxC", of: reference.item)?.dropFirst(4).prefix(while: { $0 != 0 })
            else { return false }
            return names.contains { type.elementsEqual($0.utf8) }
        }?.item
    }

    func property(_ type: String, of id: Int) -> ArraySlice<UInt8>? {
        items[id]?.properties.lazy.map { properties[$0.index] }.first { $0.type == type }?.content
    }

    func size(of id: Int) -> PixelSize? {
        guard let content = property("ispe", of: id), let width = content.number(at: 4, bytes: 4),
            let height = content.number(at: 8, bytes: 4)
        else { return nil }
        return PixelSize(width: width, height: height)
    }

    /// Returns the coded items that an item consists of: itself, or a grid's tiles. Grids can't be nested.
    private func tiles(of id: Int, instead size: PixelSize?, _ work: inout Work) throws -> HEIFPicture.Tiles {
        guard let item = items[id] else { throw damaged("it has no item \(id)") }
        if item.type == "grid" { return try grid(id, &work) }
        let coded = try codedItem(id, instead: size, &work)
        return HEIFPicture.Tiles(canvas: coded.size, columns: 1, items: [coded])
    }

    private func grid(_ id: Int, _ work: inout Work) throws -> HEIFPicture.Tiles {
        try checkEssential(id)
        let data = try data(of: id)
        guard let flags = data.number(at: 1, bytes: 1), data.first == 0, let rows = data.number(at: 2, bytes: 1),
            let columns = data.number(at: 3, bytes: 1), let width = data.number(at: 4, bytes: flags & 1 == 1 ? 4 : 2),
            let height = data.number(at: flags & 1 == 1 ? 8 : 6, bytes: flags & 1 == 1 ? 4 : 2)
        else { throw damaged("its grid makes no sense") }
        let canvas = PixelSize(width: width, height: height)
        let inputs = (targets[id] ?? []).filter { $0.type == "dimg" }
        guard !ambiguous.contains(id), inputs.count == (rows + 1) * (columns + 1) else {
            throw damaged("its grid has \(inputs.count) tiles instead of \((rows + 1) * (columns + 1))")
        }
        var tiles: [HEIFCodedItem] = []
        for input in inputs {
            try work.cancellation.check()
            let tile = try codedItem(input.item, instead: nil, &work)
            guard ["clap", "irot", "imir"].allSatisfy({ property($0, of: tile.id) == nil }) else {
                throw unsupported("has a grid of tiles that are cropped or turned")
            }
            // Pixels not covered by a tile would show the memory's old content. Layers have sizes of their own, and libavif
            // enlarges them to the item's.
            let isWhole = tile.frames <= 1 && tile.shown == tile.size
            guard isWhole || !tile.layers.isEmpty, tile.size == tiles.first?.size ?? tile.size,
                tile.codec == tiles.first?.codec ?? tile.codec
            else { throw damaged("a tile's size differs from the others or from its header") }
            tiles.append(tile)
        }
        guard let tile = tiles.first?.size, tiles.count == 1 || (tile.width >= 64 && tile.height >= 64),
            Self.covers(tile.width, columns + 1, width), Self.covers(tile.height, rows + 1, height)
        else { throw damaged("the tiles of its grid don't fit their picture") }
        return HEIFPicture.Tiles(canvas: canvas, columns: columns + 1, items: tiles)
    }

    /// Whether this many tiles are needed and enough for a length (ISO/IEC 23000-22 section 7.3.11.4.2).
    private static func covers(_ side: Int, _ count: Int, _ length: Int) -> Bool {
        // Both are below 2³², and there are 256 tiles at most.
        length > 0 && side * count >= length && side * (count - 1) < length
    }

    /// Reads a coded item and the header of its bitstream.
    /// - Parameter size: The size to assume if the container states none.
    private func codedItem(_ id: Int, instead size: PixelSize?, _ work: inout Work) throws -> HEIFCodedItem {
        guard let item = items[id] else { throw damaged("it has no item \(id)") }
        guard let codec = HEIFCodedItem.Codec(rawValue: item.type) else {
            throw unsupported(Self.words(for: item.type))
        }
        try checkEssential(id)
        guard let size = self.size(of: id) ?? size, size.width > 0, size.height > 0 else {
            throw damaged("item \(id) has no size")
        }
        guard let configuration = property(codec.configuration, of: id), configuration.count <= 1 << 16 else {
            throw damaged("item \(id) has no \(codec.configuration)")
        }
        work.left -= item.extents.reduce(0) { $0 + $1.count }
        guard work.left >= 0 else { throw tooManyParts }
        let coded = HEIFCodedSize(try data(of: id), codec, configuration: configuration, budget: &work.parts)
        guard work.parts > 0 else { throw tooManyParts }
        if codec == .hevc, coded.frames > 1 { throw unsupported("has an item of \(coded.frames) pictures") }
        return HEIFCodedItem(
            id: id, codec: codec, configuration: configuration, size: size, coded: coded.held, shown: coded.shown,
            frames: coded.frames,
            layers: ["a1op", "lsel", "a1lx"].compactMap { type in
                property(type, of: id).map { ISOBox(type: type, content: $0, isWhole: true) }
            },
            extents: item.extents)
    }

    /// Refuses unknown properties that are essential.
    private func checkEssential(_ id: Int) throws {
        let known: Set = [
            "ispe", "pixi", "colr", "pasp", "av1C", "hvcC", "clap", "irot", "imir", "auxC", "a1op", "lsel", "a1lx",
            "clli", "mdcv", "cclv", "amve", "rloc", "lhvC", "oinf", "tols",
        ]
        for (index, isEssential) in items[id]?.properties ?? [] where isEssential {
            guard known.contains(properties[index].type) else {
                throw unsupported("has a picture with the property \(properties[index].type)")
            }
        }
    }

    private static func words(for type: String) -> String {
        switch type {
        case "iovl": "has a picture composed of others (iovl)"
        case "iden": "has a picture derived from another (iden)"
        case "grid": "has a grid of grids"
        case "tmap": "has a picture made with a gain map (tmap)"
        default:
            "has a picture of the kind \(type.unicodeScalars.allSatisfy { (0x21..<0x7f).contains($0.value) } ? type : "unknown")"
        }
    }
}
#endif
