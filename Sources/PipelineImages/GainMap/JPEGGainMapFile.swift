import Pipeline

/// Puts a picture and its gain map into one JPEG: the map's file follows the picture's, which says so by the index of its
/// multi-picture format (CIPA DC-007), by ISO 21496-1 and by the directory of Ultra HDR's first version.
struct JPEGGainMapFile {
    /// The map's own file, with its metadata.
    private let map: [UInt8]
    /// The metadata of the picture, with that of the map.
    let metadata: EmbeddedMetadata

    private static let isoName = Array("urn:iso:std:iso:ts:21496:-1\0".utf8)

    /// Prepares a file.
    /// - Parameters:
    ///   - encode: Makes a JPEG of a picture with metadata.
    init(
        _ map: GainMap, _ metadata: EmbeddedMetadata, encode: (DecodedImage, EmbeddedMetadata) throws -> [UInt8]
    ) throws {
        let properties = map.parameters.adobeProperties
        let packet = properties.map { Array(Self.packet($0).utf8) } ?? []
        let file = try encode(map.picture, EmbeddedMetadata(xmp: packet, profile: map.profile))
        self.map = Self.inserted(Self.segment(Self.isoName + map.parameters.iso), into: file)
        var metadata = metadata
        if properties != nil { metadata.xmp = Self.added(Self.directory(self.map.count), to: metadata.xmp) }
        self.metadata = metadata
    }

    /// Returns the file of both.
    /// - Parameter picture: The picture's file, with ``metadata``.
    func bytes(_ picture: [UInt8]) -> [UInt8] {
        // Of the metadata only the version is the picture's.
        let version = Self.segment(Self.isoName + [0, 0, 0, 0])
        let place = Self.end(ofSegmentsIn: picture)
        // Places count from the byte order, which follows the marker, the length and the name.
        let index = place + version.count + 8
        let length = picture.count + version.count + Self.index(length: 0, map: 0, at: 0).count
        return Self.inserted(version + Self.index(length: length, map: map.count, at: length - index), into: picture)
            + map
    }

    /// The index of two pictures.
    private static func index(length: Int, map: Int, at place: Int) -> [UInt8] {
        func entry(_ tag: Int, _ type: Int, _ count: Int, _ value: [UInt8]) -> [UInt8] {
            tag.bigEndian(2) + type.bigEndian(2) + count.bigEndian(4) + value
        }
        var content = Array("MPF\0MM\0*".utf8) + 8.bigEndian(4) + 3.bigEndian(2)
        content += entry(0xb000, 7, 4, Array("0100".utf8))
        content += entry(0xb001, 4, 1, 2.bigEndian(4))
        content += entry(0xb002, 7, 32, 50.bigEndian(4)) + 0.bigEndian(4)
        // The first is a baseline picture, which stands for both; the second has no kind of its own.
        content += 0x3_0000.bigEndian(4) + length.bigEndian(4) + 0.bigEndian(8)
        content += 0.bigEndian(4) + map.bigEndian(4) + place.bigEndian(4) + 0.bigEndian(4)
        return segment(content)
    }

    /// A segment APP2.
    private static func segment(_ content: [UInt8]) -> [UInt8] {
        [0xff, 0xe2] + (content.count + 2).bigEndian(2) + content
    }

    /// Returns a file with segments after its last APPn.
    private static func inserted(_ segments: [UInt8], into file: [UInt8]) -> [UInt8] {
        let place = end(ofSegmentsIn: file)
        return Array(file[..<place]) + segments + file[place...]
    }

    /// Where the segments APPn of a file end that libjpeg has written.
    private static func end(ofSegmentsIn file: [UInt8]) -> Int {
        var place = 2
        while let marker = file[...].number(at: place, bytes: 2), (0xffe0...0xffef).contains(marker),
            let length = file[...].number(at: place + 2, bytes: 2)
        {
            place += 2 + length
        }
        return place
    }

    /// The directory of a picture and a map of some bytes.
    private static func directory(_ length: Int) -> String {
        """
        <rdf:Description rdf:about="" xmlns:hdrgm="http://ns.adobe.com/hdr-gain-map/1.0/" \
        xmlns:Container="http://ns.google.com/photos/1.0/container/" \
        xmlns:Item="http://ns.google.com/photos/1.0/container/item/" hdrgm:Version="1.0">\
        <Container:Directory><rdf:Seq>\
        <rdf:li rdf:parseType="Resource"><Container:Item Item:Semantic="Primary" Item:Mime="image/jpeg"/></rdf:li>\
        <rdf:li rdf:parseType="Resource"><Container:Item Item:Semantic="GainMap" Item:Mime="image/jpeg" \
        Item:Length="\(length)"/></rdf:li>\
        </rdf:Seq></Container:Directory></rdf:Description>
        """
    }

    private static func packet(_ description: String) -> String {
        """
        <x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">\
        \(description)</rdf:RDF></x:xmpmeta>
        """
    }

    /// Returns a packet with one more description; unchanged if its end isn't found.
    private static func added(_ description: String, to packet: [UInt8]) -> [UInt8] {
        guard !packet.isEmpty else { return Array(self.packet(description).utf8) }
        let end = Array("</rdf:RDF>".utf8)
        let place = packet.indices.reversed().first { packet[$0...].starts(with: end) }
        guard let place else { return packet }
        return Array(packet[..<place]) + description.utf8 + packet[place...]
    }
}
