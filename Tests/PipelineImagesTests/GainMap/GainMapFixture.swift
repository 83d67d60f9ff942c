import Pipeline
import TestFixtures
import Testing

@testable import PipelineImages

/// Files with gain maps that a test puts together, honest or not.
enum GainMapFixture {
    /// The metadata of ISO 21496-1 with numbers of its own for each channel.
    struct Metadata {
        var versions: [Int] = [0, 0]
        var flags = 0x40
        /// Numerators and denominators of the headrooms.
        var headrooms = [0, 1, 13, 10]
        /// Of each channel: minimum, maximum, gamma and the offsets.
        var channels = [[-1, 2, 9, 4, 1, 2, 1, 64, -1, 64]]

        var bytes: [UInt8] {
            var bytes: [UInt8] = []
            for version in versions { bytes += version.bigEndian(2) }
            bytes.append(UInt8(flags))
            for number in headrooms + channels.joined() { bytes += (number & 0xffff_ffff).bigEndian(4) }
            return bytes
        }
    }

    /// A map's picture with segments.
    static func map(_ segments: [UInt8]) throws -> [UInt8] {
        let source = try Pictures.bytes("good/jpeg-greyscale.jpg")
        return Array(source.prefix(2)) + segments + Array(source.dropFirst(2))
    }

    static func segment(_ marker: UInt8, _ name: String, _ content: [UInt8]) -> [UInt8] {
        let length: [UInt8] = (name.utf8.count + content.count + 2).bigEndian(2)
        return [0xff, marker] + length + Array(name.utf8) + content
    }

    static func iso(_ metadata: [UInt8]) -> [UInt8] { segment(0xe2, "urn:iso:std:iso:ts:21496:-1\0", metadata) }

    static func xmp(_ properties: String) -> [UInt8] {
        segment(0xe1, "http://ns.adobe.com/xap/1.0/\0", Array(packet(properties).utf8))
    }

    /// A packet whose properties are attributes, then elements.
    static func packet(_ attributes: String, elements: String = "") -> String {
        """
        <?xpacket begin=""?><x:xmpmeta xmlns:x="adobe:ns:meta/"><!-- > -->
        <rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
        <rdf:Description xmlns:hdrgm="http://ns.adobe.com/hdr-gain-map/1.0/"
        xmlns:apple='http://ns.apple.com/HDRGainMap/1.0/' \(attributes)>\(elements)</rdf:Description>
        </rdf:RDF></x:xmpmeta>
        """
    }

    /// The index of the pictures in a file: their lengths and places, counted from the segment's byte order.
    static func index(_ pictures: [(length: Int, place: Int)], isBigEndian: Bool = true) -> [UInt8] {
        func number(_ value: Int, _ count: Int) -> [UInt8] {
            isBigEndian ? value.bigEndian(count) : value.littleEndian(count)
        }
        func entry(_ tag: Int, _ type: Int, _ count: Int, _ value: [UInt8]) -> [UInt8] {
            number(tag, 2) + number(type, 2) + number(count, 4) + value
        }
        var content: [UInt8] = isBigEndian ? [0x4d, 0x4d, 0, 42] : [0x49, 0x49, 42, 0]
        content += number(8, 4) + number(3, 2)
        content += entry(0xb000, 7, 4, Array("0100".utf8))
        content += entry(0xb001, 4, 1, number(pictures.count, 4))
        content += entry(0xb002, 7, 16 * pictures.count, number(50, 4))
        content += number(0, 4)
        for picture in pictures {
            content += number(0, 4) + number(picture.length, 4)
            content += number(picture.place, 4) + number(0, 4)
        }
        return segment(0xe2, "MPF\0", content)
    }

    /// A picture with an index and a second picture.
    static func file(_ map: [UInt8], segments: [UInt8] = [], isBigEndian: Bool = true) throws -> [UInt8] {
        let source = try Pictures.bytes("good/jpeg-progressive-444.jpg")
        let length = index([(0, 0), (0, 0)]).count + segments.count + source.count
        // The byte order comes after the beginning, the marker, the length and the name.
        let index = index([(length, 0), (map.count, length - 10)], isBigEndian: isBigEndian)
        return Array(source.prefix(2)) + index + segments + Array(source.dropFirst(2)) + map
    }

    /// An AVIF whose picture is its own map, with an item made of both.
    static func avif(_ metadata: [UInt8], prefers: Bool = true) throws -> HEIFFixture {
        let coded = try CodedPicture.av1()
        var fixture = HEIFFixture.single(coded)
        let map = fixture.picture(coded, isHidden: true)
        let size = fixture.size(coded.size.width, coded.size.height)
        let toned = fixture.item("tmap", metadata, properties: [size])
        fixture.refer("dimg", from: toned, to: [1, map])
        fixture.parts = group(prefers ? [toned, 1] : [1, toned])
        fixture.brands = "tmap"
        return fixture
    }

    static func group(_ items: [Int]) -> [UInt8] {
        var content: [UInt8] = 0.bigEndian(4) + 9.bigEndian(4)
        content += items.count.bigEndian(4)
        for item in items { content += item.bigEndian(4) }
        return ISOBox.bytes("grpl", ISOBox.bytes("altr", content))
    }
}
