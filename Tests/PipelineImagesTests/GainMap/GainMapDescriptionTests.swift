import Pipeline
import TestFixtures
import Testing

@testable import PipelineImages

@Suite("The gain map of a file is found and described")
struct GainMapDescriptionTests {
    private typealias Fixture = GainMapFixture

    private func gainMap(_ bytes: [UInt8]) async throws -> GainMapDescription? {
        try await ImageMetadata(of: bytes).gainMap
    }

    @Test("In a JPEG by its index of pictures, in both byte orders, with ISO 21496-1 before Adobe's properties")
    func indexedPictures() async throws {
        let iso = Fixture.iso(Fixture.Metadata().bytes)
        let adobe = Fixture.xmp(#"hdrgm:Version="1.0" hdrgm:HDRCapacityMax="2""#)
        for isBigEndian in [true, false] {
            let file = try Fixture.file(try Fixture.map(iso + adobe), isBigEndian: isBigEndian)
            let map = try #require(try await gainMap(file))
            #expect(map.standard == .iso && map.parameters?.alternateHeadroom == 1.3)
            #expect(map.channelCount == 1)
            #expect(map.size == (try await ImageMetadata(of: try Pictures.bytes("good/jpeg-greyscale.jpg"))).storedSize)
        }
        let other = try await gainMap(try Fixture.file(try Fixture.map(adobe)))
        #expect(other?.standard == .adobe && other?.parameters?.alternateHeadroom == 2)
        let later = Fixture.iso([0, 9] + Array(Fixture.Metadata().bytes.dropFirst(2)))
        #expect(try await gainMap(try Fixture.file(try Fixture.map(later + adobe)))?.standard == .adobe)
        let unread = try await gainMap(try Fixture.file(try Fixture.map(later)))
        #expect(unread?.standard == .iso && unread?.parameters == nil && unread?.fault != nil)
    }

    @Test("In a JPEG by the directory in its XMP, before a video at the end")
    func directory() async throws {
        let map = try Fixture.map(Fixture.xmp(#"hdrgm:Version="1.0""#))
        let video = [UInt8](repeating: 7, count: 300)
        let items = """
            <Container:Directory xmlns:Container="http://ns.google.com/photos/1.0/container/"
            xmlns:Item="http://ns.google.com/photos/1.0/container/item/"><rdf:Seq>
            <rdf:li rdf:parseType="Resource"><Container:Item Item:Semantic="Primary" Item:Mime="image/jpeg"/></rdf:li>
            <rdf:li rdf:parseType="Resource"><Container:Item Item:Length="\(map.count)" Item:Semantic="GainMap"/></rdf:li>
            <rdf:li rdf:parseType="Resource"><Container:Item Item:Semantic="MotionPhoto" Item:Length="300"/></rdf:li>
            </rdf:Seq></Container:Directory>
            """
        let packet = Fixture.packet(#"hdrgm:Version="1.0""#, elements: items)
        let source = try Pictures.bytes("good/jpeg-progressive-444.jpg")
        let head = Fixture.segment(0xe1, "http://ns.adobe.com/xap/1.0/\0", Array(packet.utf8))
        let first = Array(source.prefix(2)) + head + Array(source.dropFirst(2))
        let found = try await gainMap(first + map + video)
        #expect(found?.standard == .adobe && found?.parameters != nil && found?.size != nil)
        // A program copied the first picture alone.
        let alone = try await gainMap(first)
        #expect(alone?.fault == "the map isn't in the file" && alone?.size == nil)
        #expect(try ImageCodec.jpeg.decoder.header(of: first, cancellation: WorkCancellation()).gainMap == nil)
    }

    @Test("Apple's, with the headroom in XMP or in the camera's notes")
    func apple() async throws {
        let version = #"apple:HDRGainMapVersion="65536""#
        let told = try Fixture.map(Fixture.xmp(version + #" apple:HDRGainMapHeadroom="8""#))
        let found = try await gainMap(try Fixture.file(told))
        #expect(found?.standard == .apple && found?.parameters?.alternateHeadroom == 3)
        #expect(found?.parameters?.channels.isEmpty == true)

        func noted(_ first: Int, _ second: Int, below: Int = 1000) -> [UInt8] {
            func entry(_ tag: Int, _ type: Int, _ count: Int, _ place: Int) -> [UInt8] {
                tag.bigEndian(2) + type.bigEndian(2) + count.bigEndian(4) + place.bigEndian(4)
            }
            var note = Array("Apple iOS\0".utf8) + [0, 1, 0x4d, 0x4d, 0, 2]
            note += entry(33, 10, 1, 44) + entry(48, 10, 1, 52) + [0, 0, 0, 0]
            for number in [first, below, second, below] { note += number.bigEndian(4) }
            var exif: [UInt8] = [0x4d, 0x4d, 0, 42, 0, 0, 0, 8, 0, 1]
            exif += entry(0x8769, 4, 1, 26) + [0, 0, 0, 0, 0, 1]
            exif += entry(0x927c, 7, note.count, 44) + [0, 0, 0, 0] + note
            return Fixture.segment(0xe1, "Exif\0\0", exif)
        }
        let map = try Fixture.map(Fixture.xmp(version))
        for (first, second, stops) in [(0, 0, 1.8), (500, 100, 1.5909), (1000, 0, 3.0), (1500, 1000, 2.0)] {
            let file = try Fixture.file(map, segments: noted(first, second))
            let headroom = try #require(try await gainMap(file)?.parameters?.alternateHeadroom)
            #expect(abs(headroom - stops) < 1e-9)
        }
        for segments in [[], noted(0, 0, below: 0), noted(0, 1_000_000)] {
            #expect(try await gainMap(try Fixture.file(map, segments: segments))?.fault == "its headroom is missing")
        }
    }

    @Test("In the file of a phone, whose header tells it too")
    func realFile() async throws {
        let bytes = try Pictures.bytes("good/jpeg-ultrahdr-gainmap-mpf.jpg")
        let map = try #require(try await gainMap(bytes))
        #expect(map.parameters != nil && map.size != nil, "\(map)")
        #expect(try ImageCodec.jpeg.decoder.header(of: bytes, cancellation: WorkCancellation()).gainMap == map.standard)
    }

    @Test(
        "An index with thousands of entries, or with places outside of the file or in the picture itself, finds nothing"
    )
    func hostileIndices() async throws {
        let source = try Pictures.bytes("good/jpeg-progressive-444.jpg")
        for place in [1, 0xffff_fff6, 0xffff_ffff, 0x7fff_ffff, source.count] {
            let index = Fixture.index([(0, 0), (9, place)])
            #expect(try await gainMap(Array(source.prefix(2)) + index + Array(source.dropFirst(2))) == nil)
        }
        let many = Fixture.index([(Int, Int)](repeating: (1, 2), count: 4000).map { (length: $0.0, place: $0.1) })
        #expect(try await gainMap(Array(source.prefix(2)) + many + Array(source.dropFirst(2))) == nil)
        for count in stride(from: 12, to: many.count, by: 997) {
            let cut: [UInt8] = [0xff, 0xe2] + (count - 2).bigEndian(2) + Array(many[4..<count])
            _ = try await gainMap(Array(source.prefix(2)) + cut + Array(source.dropFirst(2)))
        }
    }

    @Test("In an AVIF by an item tmap that the file names and prefers")
    func toneMapped() async throws {
        let metadata = [0] + Fixture.Metadata().bytes
        let good = try Fixture.avif(metadata)
        let map = try #require(try await gainMap(good.bytes))
        #expect(map.standard == .iso && map.parameters?.alternateHeadroom == 1.3)
        #expect(map.size == (try CodedPicture.av1()).size && map.channelCount == 3)
        #expect(try await ImageMetadata(of: good.bytes).dynamicRange == .gainMap)

        var unnamed = good
        unnamed.brands = ""
        #expect(try await gainMap(unnamed.bytes)?.fault == "the brand tmap is missing")
        #expect(try await gainMap(try Fixture.avif(metadata, prefers: false).bytes)?.parameters == nil)
        #expect(try await gainMap(try Fixture.avif(Array(metadata.dropLast())).bytes)?.parameters == nil)
        for group in [[], Fixture.group([]), Fixture.group([7, 8])] {
            var lonely = good
            lonely.parts = group
            #expect(try await gainMap(lonely.bytes)?.fault == "the file doesn't prefer the picture with the map")
        }
    }

    @Test("Items that are made of themselves, of too many others or of missing ones are described as unreadable")
    func cycles() async throws {
        let metadata = [0] + Fixture.Metadata().bytes
        for inputs in [[1, 1], [1], [1, 2, 3], [3, 1], [2, 1], [1, 77]] {
            var fixture = try Fixture.avif(metadata)
            fixture.references = []
            fixture.refer("dimg", from: 3, to: inputs)
            let map = try await gainMap(fixture.bytes)
            #expect(inputs == [1, 77] ? map?.size == nil : map?.parameters == nil, "\(inputs)")
        }
        var twice = try Fixture.avif(metadata)
        twice.refer("dimg", from: 3, to: [1, 2])
        #expect(try await gainMap(twice.bytes)?.parameters == nil)
        var counted = try Fixture.avif(metadata)
        counted.parts = ISOBox.bytes(
            "grpl", ISOBox.bytes("altr", [UInt8](repeating: 0, count: 8) + [255, 255, 255, 255]))
        #expect(try await gainMap(counted.bytes)?.parameters == nil)
    }

    @Test("In a HEIC by Apple's auxiliary picture and its XMP")
    func auxiliaryPicture() async throws {
        let coded = try CodedPicture.hevc()
        var fixture = HEIFFixture.single(coded)
        let kind = fixture.property("auxC", [0, 0, 0, 0] + Array("\(GainMapXMP.appleType)\0".utf8))
        let map = fixture.picture(coded, properties: [kind])
        fixture.refer("auxl", from: map, to: [1])
        #expect(try await gainMap(fixture.bytes)?.fault == "its headroom is missing")
        let packet = Fixture.packet(#"apple:HDRGainMapVersion="65536" apple:HDRGainMapHeadroom="4""#)
        let xmp = fixture.item("mime", Array(packet.utf8), contentType: "application/rdf+xml")
        fixture.refer("cdsc", from: xmp, to: [map])
        let found = try #require(try await gainMap(fixture.bytes))
        #expect(found.standard == .apple && found.parameters?.alternateHeadroom == 2)
        #expect(found.size == coded.size && found.channelCount == 3)
        var other = fixture
        other.references.removeFirst()
        #expect(try await gainMap(other.bytes) == nil)
    }

    @Test("Pictures without one have none")
    func none() async throws {
        for name in [
            "jpeg-exif-xmp-icc.jpg", "jpeg-greyscale.jpg", "avif-photo.avif", "heic-128.heif", "webp-lossy.webp",
        ] {
            #expect(try await gainMap(try Pictures.bytes("good/\(name)")) == nil, "\(name)")
        }
    }
}
