import LibC
import Pipeline
import PipelineImages
import TestFixtures
import Testing

@testable import PipelineIsolation

@Suite("Whatever a worker writes, the program reads nothing that isn't there", .onLinux)
struct MessageTests {
    private static let formats = [ImageFormat.jpeg, .png, .gif]
    private static let slabBytes = 4096
    /// The place of the file's format, and the bytes of the file.
    private static let gif = 2
    private static let fileBytes = 1000

    /// What a response can have as its result.
    enum Kind: CaseIterable { case picture, header, blocks, error, description }

    private func withSlab<Result>(_ body: (Slab) throws -> Result) throws -> Result {
        let file = try #require(tmpfile())
        defer { fclose(file) }
        try #require(ftruncate(fileno(file), Self.slabBytes) == 0)
        let slab = try Slab(memory: fileno(file), count: Self.slabBytes, isWritable: true)
        defer { slab.unmap() }
        return try body(slab)
    }

    private var header: ImageHeader {
        var header = ImageHeader(format: .gif, storedSize: PixelSize(width: 9, height: 7))
        (header.frames, header.loopCount) = (3, 2)
        (header.profileSpace, header.gainMap, header.gainMapMemory) = (.displayP3, .adobe, 200)
        header.gainMapMakesSDR = true
        return header
    }

    /// The header by which a picture is decoded with its map.
    private var kept: ImageHeader {
        var header = header
        header.keepsGainMap = true
        return header
    }

    private var picture: DecodedImage {
        let frame = DecodedImage.Frame(pixels: [UInt8](repeating: 7, count: 9 * 7 * 4), delay: .milliseconds(40))
        var image = DecodedImage(
            size: header.size, layout: .rgba, frames: [frame, frame], loopCount: 2, nativeSize: header.size)
        image.gainMap = gainMap?.parameters.flatMap {
            GainMap(
                [UInt8](1...12), size: PixelSize(width: 4, height: 3), channelCount: 1, $0,
                stored: PixelSize(width: 5, height: 4), of: header.size, profile: [1, 2, 3])
        }
        return image
    }

    private var gainMap: GainMapDescription? {
        let channel = GainMapParameters.Channel(
            minimum: -1, maximum: 2.5, gamma: 0.5, baseOffset: 0.25, alternateOffset: -0.25)
        let parameters = try? GainMapParameters(
            checking: [channel], base: 0, alternate: 3, usesBaseColorSpace: true)
        return parameters.map {
            GainMapDescription(.iso, size: PixelSize(width: 4, height: 3), channelCount: 1, $0)
        }
    }

    private var mastering: MasteringMetadata? {
        MasteringMetadata(
            display: MasteringMetadata.Display((0..<10).map { Double($0) / 10 }), maximumContentLight: 1000,
            maximumFrameAverageLight: nil)
    }

    private var description: ImageMetadata {
        ImageMetadata(
            header: header, colors: .rgb,
            profile: ImageMetadata.ColorProfile(name: "Display", isSRGB: false, byteCount: 500),
            colorSpaceName: "Display P3", transferName: "sRGB", gainMap: gainMap,
            mastering: mastering,
            capturedAt: "2026:01:02", camera: "A camera", lens: nil,
            location: ImageMetadata.Location(latitude: 1, longitude: 2),
            provenance: ImageMetadata.Provenance(
                byteCount: 5, manifests: 2, label: "urn:c2pa:1", url: "https://example.org/m"),
            exifByteCount: 3, xmpByteCount: 4, byteCount: Self.fileBytes)
    }

    /// The numbers of a true response, whose bytes are then in the slab.
    private func numbers(of kind: Kind, _ slab: Slab) throws -> [Int] {
        var (message, writer) = (Message(kind: 0), SlabWriter(slab.bytes))
        switch kind {
        case .picture: try message.append(picture, of: kept, to: slab.bytes)
        case .header: message.append(header, Self.formats)
        case .blocks:
            var blocks = EmbeddedMetadata(exif: [1, 2], xmp: [3], profile: [4, 5, 6])
            blocks.mastering = mastering
            try writer.append(blocks, to: &message)
        case .error: try writer.append(LoadError(.undecodable, subject: "", "It is damaged."), to: &message)
        case .description: try writer.append(description, header: header, Self.formats, to: &message)
        }
        var (reader, numbers) = (message.reader, [Int]())
        while let number = try? reader.next(in: Int.min...Int.max) { numbers.append(number) }
        return numbers
    }

    /// The readers of a response with these numbers.
    private func readers(_ numbers: [Int], _ slab: Slab) -> (numbers: Message.Reader, words: SlabReader) {
        var message = Message(kind: 0)
        for number in numbers { message.append(number) }
        return (message.reader, SlabReader(slab, message.reader))
    }

    /// Reads a response as the program does, and checks what it got.
    private func read(_ kind: Kind, _ numbers: [Int], _ slab: Slab) throws {
        var (reader, words) = readers(numbers, slab)
        switch kind {
        case .picture:
            let image = try reader.nextImage(of: kept, box: nil, frames: 2, in: slab)
            #expect(image.size == header.size && image.nativeSize == header.size && image.frames.count <= 2)
            #expect(image.byteCount <= Self.slabBytes)
            for frame in image.frames { #expect(frame.delay >= .zero && frame.delay < .seconds(1 << 21)) }
        case .header:
            let header = try reader.nextHeader(Self.formats, of: Self.gif, fileBytes: Self.fileBytes)
            #expect(header.format == .gif && header.frames <= 65_536)
            #expect((0...Message.largest).contains(header.storedSize.width) && header.frames >= 0)
        case .blocks:
            let blocks = try words.metadata(fileBytes: Self.fileBytes)
            #expect(blocks.exif.count + blocks.xmp.count + blocks.profile.count <= Self.slabBytes)
        case .error:
            let error = try words.error()
            #expect(error.message.utf8.count <= SlabReader.longestText)
        case .description:
            let description = try words.description(Self.formats, of: Self.gif, byteCount: Self.fileBytes)
            #expect((-90...90).contains(description.location?.latitude ?? 0))
        }
    }

    @Test("True responses are read as they were written", arguments: Kind.allCases)
    func trueResponses(_ kind: Kind) throws {
        try withSlab { slab in
            let numbers = try numbers(of: kind, slab)
            try read(kind, numbers, slab)
            var (reader, words) = readers(numbers, slab)
            switch kind {
            case .picture:
                let image = try reader.nextImage(of: kept, box: nil, frames: 2, in: slab)
                #expect(image.frames == picture.frames && image.loopCount == 2)
                #expect(image.gainMap != nil && image.gainMap == picture.gainMap)
            case .header:
                let read = try reader.nextHeader(Self.formats, of: Self.gif, fileBytes: Self.fileBytes)
                #expect(read == header)
            case .blocks:
                let read = try words.metadata(fileBytes: Self.fileBytes)
                #expect(read.profile == [4, 5, 6] && read.mastering == mastering)
            case .error: #expect(try words.error().message == "It is damaged.")
            case .description:
                let read = try words.description(Self.formats, of: Self.gif, byteCount: Self.fileBytes)
                #expect(read == description)
            }
        }
    }

    @Test("A response with any number replaced, or cut off, is refused or harmless", arguments: Kind.allCases)
    func replacedNumbers(_ kind: Kind) throws {
        try withSlab { slab in
            let numbers = try numbers(of: kind, slab)
            var refused = 0
            func attempt(_ numbers: [Int]) throws {
                do {
                    try read(kind, numbers, slab)
                } catch is Message.Malformed {
                    refused += 1
                }
            }
            for (index, number) in numbers.enumerated() {
                for hostile in [
                    -1, number + 1, number - 1, Self.slabBytes, 1 << 31, 1 << 40, 1 << 62, Int.max, Int.min,
                ] {
                    var changed = numbers
                    changed[index] = hostile
                    try attempt(changed)
                }
            }
            // No number may be missing.
            for count in 0..<numbers.count {
                refused = 0
                try attempt(Array(numbers.prefix(count)))
                #expect(refused == 1, "\(count) numbers were enough")
            }
        }
    }

    @Test(
        "A lie is named",
        arguments: [
            (Kind.picture, 0, 10, "number 0 is 10 instead of 9 to 9"),
            (.picture, 0, 8, "number 0 is 8 instead of 9 to 9"),
            (.picture, 1, 8, "number 1 is 8 instead of 7 to 7"),
            (.picture, 2, 5, "number 2 is 5 instead of 1 to 4"),
            (.picture, 3, 256 * 12 + 13, "its colours are 3085"),
            (.picture, 4, 1, "it has 16 bits a channel"),
            (.picture, 5, 3, "number 5 is 3 instead of 1 to 2"),
            (.picture, 6, 3, "it plays 3 times instead of 2"),
            (.picture, 7, 10, "number 7 is 10 instead of 9 to 9"),
            (.picture, 9, 1, "it shows another region"),
            (.header, 0, 3, "number 0 is 3 instead of 0 to 2"),
            (.header, 0, 1, "it is a header of image/png"),
            (.header, 6, 65_537, "65537 frames in 1000 bytes"),
            (.header, 5, 9, "number 5 is 9 instead of 1 to 8"),
            (.blocks, 1, 4095, "4095 bytes at 2 exceed the slab's 4096"),
            (.description, 1, 0, "the picture has no pixels"),
            (.error, 0, 0, "an error's code isn't a name"),
            (.description, 56, 0x7ff8_0000_0000_0000, "a place isn't on Earth"),
        ])
    func lies(_ kind: Kind, _ index: Int, _ number: Int, _ reason: String) throws {
        try withSlab { slab in
            var numbers = try numbers(of: kind, slab)
            numbers[index] = number
            let error = #expect(throws: Message.Malformed.self) { try read(kind, numbers, slab) }
            #expect(error?.description == reason)
        }
    }

    @Test("Control characters of a text become spaces, since it may end up on a terminal")
    func controlCharacters() throws {
        try withSlab { slab in
            var (message, writer) = (Message(kind: 0), SlabWriter(slab.bytes))
            // As a worker that was taken over writes it: an error's own text has none.
            for text in ["undecodable", "red:\u{1B}[31m\u{7F}\u{9B}\n"] {
                try writer.append(Array(text.utf8), to: &message)
            }
            var words = SlabReader(slab, message.reader)
            #expect(try words.error().message == "red: [31m   ")
        }
    }
}
