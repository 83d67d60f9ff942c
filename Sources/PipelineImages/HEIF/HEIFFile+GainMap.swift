#if AVIF || HEIC
import Pipeline

/// The gain map of a HEIF or AVIF file.
struct HEIFGainMap {
    let description: GainMapDescription
    /// The item with the map's picture; `nil` if there is none.
    let item: Int?
}

extension HEIFFile {
    /// Reads a file's list of items; `nil` if there is none that can be read, as in some sequences.
    /// - Throws: `CancellationError`.
    init?(ifPresent bytes: [UInt8], format: ImageFormat, _ cancellation: WorkCancellation) throws {
        do {
            try self.init(bytes, format: format, cancellation: cancellation)
        } catch is LoadError {
            return nil
        }
    }

    /// The gain map of the primary picture; `nil` if there is none.
    ///
    /// An item `tmap` is made of the picture and its map (ISO/IEC 23008-12 section 6.6.2.4). As in libavif, a file has
    /// to name it among its brands and to prefer it to the picture. Apple's older files have an auxiliary picture.
    var gainMap: HEIFGainMap? {
        guard let primary else { return nil }
        let sources = sources[primary] ?? []
        return sources.lazy.filter { $0.type == "dimg" }.prefix(Self.mostMaps)
            .compactMap { toneMapped($0.item, primary) }.first
            ?? sources.lazy.filter { $0.type == "auxl" }.prefix(Self.mostMaps).compactMap { auxiliary($0.item) }.first
    }

    /// More pictures that are made of the primary one, or that belong to it, than a genuine file has.
    private static let mostMaps = 16

    private func toneMapped(_ id: Int, _ primary: Int) -> HEIFGainMap? {
        guard items[id]?.type == "tmap" else { return nil }
        let inputs = (targets[id] ?? []).filter { $0.type == "dimg" }
        let isPair = inputs.count == 2 && inputs[0].item == primary && inputs[1].item != primary
        let map = isPair && !ambiguous.contains(id) ? inputs[1].item : nil
        let description = GainMapDescription(
            .iso, size: map.flatMap(size), channelCount: map.flatMap(channelCount)
        ) { () throws(GainMapFault) in
            guard map != nil else { throw GainMapFault("its item tmap isn't made of the picture and a map") }
            guard hasGainMapBrand else { throw GainMapFault("the brand tmap is missing") }
            guard prefers(id, to: primary) else {
                throw GainMapFault("the file doesn't prefer the picture with the map")
            }
            guard let content = try? data(of: id) else { throw GainMapFault("its metadata is cut off") }
            return try GainMapParameters(toneMapped: content)
        }
        return HEIFGainMap(description: description, item: map)
    }

    /// The ICC profile of the picture that is made with the whole map, or one with the primaries that it is described by;
    /// empty without any.
    func alternateProfile(with map: Int) -> [UInt8] {
        let toned = sources[map]?.first { $0.type == "dimg" && items[$0.item]?.type == "tmap" }?.item
        let own = toned.flatMap { items[$0]?.properties.map { properties[$0.index] } } ?? []
        let profile = Self.profile(own)
        guard profile.isEmpty, let coded = own.lazy.compactMap({ CodedColors(nclx: $0.content) }).first else {
            return profile
        }
        return ICCProfile.withPrimaries[coded.primaries] ?? []
    }

    private func prefers(_ id: Int, to primary: Int) -> Bool {
        alternatives.contains { group in
            guard let first = group.firstIndex(of: id), let second = group.firstIndex(of: primary) else { return false }
            return first < second
        }
    }

    private func auxiliary(_ id: Int) -> HEIFGainMap? {
        guard let type = property("auxC", of: id)?.dropFirst(4).prefix(while: { $0 != 0 }),
            type.elementsEqual(GainMapXMP.appleType.utf8)
        else { return nil }
        let description = GainMapDescription(.apple, size: size(of: id), channelCount: channelCount(of: id)) {
            () throws(GainMapFault) in
            try GainMapXMP(xmp(of: id)).appleParameters(EXIFBlock(exif))
        }
        return HEIFGainMap(description: description, item: id)
    }

    /// The number of an item's colours, as its property `pixi` says, or the configuration of its codec or of its first
    /// tile's.
    private func channelCount(of id: Int) -> Int? {
        if let count = property("pixi", of: id)?.number(at: 4, bytes: 1) { return count == 1 ? 1 : 3 }
        let tile = items[id]?.type == "grid" ? targets[id]?.first { $0.type == "dimg" }?.item : id
        guard let tile, let codec = items[tile].flatMap({ HEIFCodedItem.Codec(rawValue: $0.type) }),
            let configuration = property(codec.configuration, of: tile)
        else { return nil }
        return codec.isMonochrome(configuration) ? 1 : 3
    }
}
#endif
