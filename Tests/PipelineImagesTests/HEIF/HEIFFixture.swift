import Pipeline
import TestFixtures
import Testing

@testable import PipelineImages

/// A HEIF file that a test puts together, honest or not.
struct HEIFFixture {
    struct Item {
        var type: String
        var data: [UInt8] = []
        /// Numbers of properties, counted from 1.
        var properties: [Int] = []
        var isHidden = false
        /// Of a `mime` item.
        var contentType = ""
        /// More parts than the one that holds the data, as offsets into the file and lengths.
        var extents: [(offset: Int, length: Int)] = []
    }

    struct Reference {
        var type: String
        var from: Int
        var to: [Int]
    }

    var brand = "avif"
    /// More brands, one after the other.
    var brands = ""
    var primary = 1
    /// In the order of their numbers, from 1.
    var items: [Item] = []
    var properties: [[UInt8]] = []
    var references: [Reference] = []
    /// Further boxes of the list of items.
    var parts: [UInt8] = []

    /// Adds a property.
    /// - Returns: its number.
    mutating func property(_ type: String, _ content: [UInt8]) -> Int {
        properties.append(ISOBox.bytes(type, content))
        return properties.count
    }

    /// The property `ispe`.
    mutating func size(_ width: Int, _ height: Int) -> Int {
        property("ispe", 0.bigEndian(4) + width.bigEndian(4) + height.bigEndian(4))
    }

    /// Adds an item.
    /// - Returns: its number.
    @discardableResult
    mutating func item(
        _ type: String, _ data: [UInt8] = [], properties: [Int] = [], isHidden: Bool = false, contentType: String = ""
    ) -> Int {
        items.append(
            Item(
                type: type, data: data, properties: properties, isHidden: isHidden, contentType: contentType))
        return items.count
    }

    mutating func refer(_ type: String, from: Int, to: [Int]) {
        references.append(Reference(type: type, from: from, to: to))
    }

    /// A grid's own data.
    static func grid(columns: Int, rows: Int, _ width: Int, _ height: Int) -> [UInt8] {
        [0, 1, UInt8(rows - 1), UInt8(columns - 1)] + width.bigEndian(4) + height.bigEndian(4)
    }

    /// The property `clap` in whole numbers: a size, and how far its centre is from the picture's, in halves.
    static func crop(_ width: Int, _ height: Int, across: Int = 0, down: Int = 0) -> [UInt8] {
        [width, 1, height, 1, across, 2, down, 2].flatMap { $0.bigEndian(4) }
    }

    var bytes: [UInt8] {
        let type = ISOBox.bytes("ftyp", Array((brand + "\0\0\0\0" + brand + "mif1" + brands).utf8))
        let length = list(at: 0).count
        return type + list(at: type.count + length + 8) + ISOBox.bytes("mdat", items.flatMap(\.data))
    }

    /// The `meta` box.
    func list(at start: Int) -> [UInt8] {
        var offset = start
        var places: [UInt8] = []
        var entries: [UInt8] = []
        var associations: [UInt8] = []
        for (index, item) in items.enumerated() {
            let id = index + 1
            let own = item.data.isEmpty ? [] : [(offset: offset, length: item.data.count)]
            offset += item.data.count
            places += id.bigEndian(2) + 0.bigEndian(4) + (own + item.extents).count.bigEndian(2)
            for extent in own + item.extents { places += extent.offset.bigEndian(4) + extent.length.bigEndian(4) }
            let flags = item.isHidden ? 1 : 0
            let rest = item.type == "mime" ? Array("\0\(item.contentType)\0".utf8) : [0]
            entries += ISOBox.bytes(
                "infe", [2] + flags.bigEndian(3) + id.bigEndian(2) + 0.bigEndian(2) + Array(item.type.utf8) + rest)
            associations += id.bigEndian(2) + [UInt8(item.properties.count)]
            for property in item.properties { associations += property.bigEndian(2) }
        }
        let handler = 0.bigEndian(8) + Array("pict".utf8) + 0.bigEndian(13)
        let links = references.flatMap { reference in
            ISOBox.bytes(
                reference.type,
                reference.from.bigEndian(2) + reference.to.count.bigEndian(2) + reference.to.flatMap { $0.bigEndian(2) }
            )
        }
        return ISOBox.bytes(
            "meta",
            0.bigEndian(4) + ISOBox.bytes("hdlr", handler) + ISOBox.bytes("pitm", 0.bigEndian(4) + primary.bigEndian(2))
                + ISOBox.bytes("iloc", [1, 0, 0, 0, 0x44, 0] + items.count.bigEndian(2) + places)
                + ISOBox.bytes("iinf", 0.bigEndian(4) + items.count.bigEndian(2) + entries)
                + (links.isEmpty ? [] : ISOBox.bytes("iref", 0.bigEndian(4) + links))
                + ISOBox.bytes(
                    "iprp",
                    ISOBox.bytes("ipco", properties.flatMap { $0 })
                        + ISOBox.bytes("ipma", [0, 0, 0, 1] + items.count.bigEndian(4) + associations)) + parts)
    }
}

/// A coded picture of a real file, to put into others.
struct CodedPicture {
    let type: String
    let data: [UInt8]
    let configuration: [UInt8]
    let size: PixelSize

    /// What the primary item of a file is coded as.
    init(of bytes: [UInt8]) throws {
        let format = try #require(ImageCodecs.known.format(of: bytes))
        let file = try HEIFFile(bytes, format: format, cancellation: WorkCancellation())
        let picture = try file.picture(of: try #require(file.primary), cancellation: WorkCancellation())
        type = picture.first.codec.rawValue
        data = Array(try file.data(of: picture.first.id))
        configuration = Array(picture.first.configuration)
        size = picture.first.size
    }

    /// The 128×128 pixels of a HEIC file.
    static func hevc() throws -> CodedPicture { try CodedPicture(of: try Pictures.bytes("good/heic-128.heif")) }

    /// The 403×302 pixels of an AVIF file.
    static func av1() throws -> CodedPicture { try CodedPicture(of: try Pictures.bytes("good/avif-photo.avif")) }

    /// A picture of our own, with a matrix.
    static func av1(_ image: DecodedImage) async throws -> CodedPicture {
        var options = EncodeOptions()
        options.avif.effort = 0
        let response = try await SampleImage.process(image) { Encode(.avif, options: options) }
        return try CodedPicture(of: try #require(response.encoded).bytes)
    }
}

extension HEIFFixture {
    /// Adds a picture with its size and its configuration.
    @discardableResult
    mutating func picture(_ coded: CodedPicture, properties more: [Int] = [], isHidden: Bool = false) -> Int {
        brand = coded.type == "hvc1" ? "heic" : "avif"
        let size = size(coded.size.width, coded.size.height)
        let configuration = property(coded.type == "hvc1" ? "hvcC" : "av1C", coded.configuration)
        return item(coded.type, coded.data, properties: [size, configuration] + more, isHidden: isHidden)
    }

    /// A file of one picture.
    static func single(_ coded: CodedPicture) -> HEIFFixture {
        var fixture = HEIFFixture()
        fixture.picture(coded)
        return fixture
    }

    /// A file of a grid whose tiles all are the same.
    static func grid(
        of tile: CodedPicture, columns: Int, rows: Int, size: PixelSize,
        tileProperties: (inout HEIFFixture) -> [Int] = { _ in [] }
    ) -> HEIFFixture {
        var fixture = HEIFFixture()
        let canvas = fixture.size(size.width, size.height)
        let grid = fixture.item(
            "grid", HEIFFixture.grid(columns: columns, rows: rows, size.width, size.height), properties: [canvas])
        let more = tileProperties(&fixture)
        let first = fixture.picture(tile, properties: more, isHidden: true)
        let properties = fixture.items[first - 1].properties
        let others = (1..<columns * rows).map { _ in
            fixture.item(tile.type, tile.data, properties: properties, isHidden: true)
        }
        fixture.refer("dimg", from: grid, to: [first] + others)
        return fixture
    }
}
