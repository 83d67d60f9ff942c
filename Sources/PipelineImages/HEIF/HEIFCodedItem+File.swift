#if AVIF || HEIC
import Pipeline

extension HEIFCodedItem {
    /// Returns a file with this item alone, which the library gets in place of the original. So the library never sees
    /// anything that this package hasn't parsed and checked, and can't interpret it differently.
    /// - Parameter colors: The `nclx` property, if the container has one.
    func file(in bytes: [UInt8], colors: ISOBox?) -> [UInt8] {
        let data = extents.flatMap { bytes[$0] }
        let brand = codec == .av1 ? "avif" : "heic"
        let type = ISOBox.bytes("ftyp", Array((brand + "\0\0\0\0" + brand + "mif1").utf8))
        // The length of the list doesn't depend on the offset.
        let length = type.count + list(at: 0, count: data.count, colors).count
        return type + list(at: length + 8, count: data.count, colors) + ISOBox.bytes("mdat", data)
    }

    private func list(at offset: Int, count: Int, _ colors: ISOBox?) -> [UInt8] {
        let dimensions = 0.bigEndian(4) + size.width.bigEndian(4) + size.height.bigEndian(4)
        var properties = ISOBox.bytes("ispe", dimensions) + ISOBox.bytes(codec.configuration, Array(configuration))
        var associations: [UInt8] = [1, 0x82]
        for box in layers + (colors.map { [$0] } ?? []) {
            properties += ISOBox.bytes(box.type, Array(box.content))
            // The properties that select a layer are essential.
            associations.append(UInt8(associations.count + 1) | (["a1op", "lsel"].contains(box.type) ? 0x80 : 0))
        }
        let handler = 0.bigEndian(8) + Array("pict".utf8) + 0.bigEndian(13)
        let place =
            [1, 0, 0, 0, 0x88, 0] + 1.bigEndian(2) + 1.bigEndian(2) + 0.bigEndian(4) + 1.bigEndian(2)
            + offset.bigEndian(8) + count.bigEndian(8)
        let entry = [2, 0, 0, 0] + 1.bigEndian(2) + 0.bigEndian(2) + Array(codec.rawValue.utf8) + [0]
        let association =
            0.bigEndian(4) + 1.bigEndian(4) + 1.bigEndian(2) + [UInt8(associations.count)] + associations
        return ISOBox.bytes(
            "meta",
            0.bigEndian(4) + ISOBox.bytes("hdlr", handler) + ISOBox.bytes("pitm", 0.bigEndian(4) + 1.bigEndian(2))
                + ISOBox.bytes("iloc", place)
                + ISOBox.bytes("iinf", 0.bigEndian(4) + 1.bigEndian(2) + ISOBox.bytes("infe", entry))
                + ISOBox.bytes(
                    "iprp", ISOBox.bytes("ipco", properties) + ISOBox.bytes("ipma", association)))
    }
}
#endif
