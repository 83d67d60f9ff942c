import Foundation
import Pipeline
import TestFixtures
import Testing

@testable import PipelineImages

@Suite("Every kind of TIFF shows the same picture, or is refused by its name")
struct TIFFKindsTests {
    private static let size = PixelSize(width: 20, height: 6)
    /// Levels from left to right, from right to left, and one of them.
    private static let colors: [UInt8] = (0..<120).flatMap { index in
        let level = UInt8(index % 20 * 12)
        return [level, 240 - level, 96]
    }
    private static let grays: [UInt8] = stride(from: 0, to: colors.count, by: 3).map { colors[$0] }

    private static func plane(_ channel: Int, of pixels: [UInt8] = colors) -> [UInt8] {
        stride(from: channel, to: pixels.count, by: 3).map { pixels[$0] }
    }

    /// Samples of this many bits, the highest first, each row beginning with a byte.
    private static func packed(_ levels: [UInt8], bits: Int, row: Int) -> [UInt8] {
        stride(from: 0, to: levels.count, by: row).flatMap { start -> [UInt8] in
            var bytes = [UInt8](repeating: 0, count: (row * bits + 7) / 8)
            for index in 0..<row {
                let value = (Int(levels[start + index]) * ((1 << bits) - 1) + 127) / 255
                for bit in 0..<bits where value >> (bits - 1 - bit) & 1 == 1 {
                    bytes[(index * bits + bit) / 8] |= 0x80 >> UInt8((index * bits + bit) % 8)
                }
            }
            return bytes
        }
    }

    private static func little(_ numbers: [Int], _ count: Int) -> [UInt8] {
        numbers.flatMap { number in (0..<count).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) } }
    }

    private static func tiff(
        bits: Int = 8, samples: Int = 3, photometric: Int? = 2, compression: Int = 1, _ pieces: [[UInt8]]
    ) -> TIFFBytes {
        TIFFBytes(
            width: size.width, height: size.height, bits: bits, samples: samples, photometric: photometric,
            compression: compression, pieces: pieces)
    }

    /// A file of tiles of 16 × 16 of one plane's levels.
    private static func tiles(_ levels: [UInt8], samples: Int) -> [[UInt8]] {
        [0, 16].map { left in
            var tile: [UInt8] = []
            for y in 0..<16 {
                for x in left..<left + 16 {
                    let isInside = x < 20 && y < 6
                    for sample in 0..<samples { tile.append(isInside ? levels[(y * 20 + x) * samples + sample] : 7) }
                }
            }
            return tile
        }
    }

    private func expect(
        _ file: TIFFBytes, _ expected: [UInt8] = colors, within tolerance: Int = 1,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let image = try await SampleImage.decode(file.bytes)
        #expect(image.size == Self.size, sourceLocation: sourceLocation)
        try #require(image.pixels.count == expected.count, sourceLocation: sourceLocation)
        let difference = zip(image.pixels, expected).map { abs(Int($0) - Int($1)) }.max() ?? 0
        #expect(difference <= tolerance, sourceLocation: sourceLocation)
    }

    @Test("Any bits a sample", arguments: [2, 4, 7, 8, 10, 12, 14])
    func bits(_ bits: Int) async throws {
        let step = bits < 8 ? 255 / ((1 << bits) - 1) : 0
        try await expect(
            Self.tiff(bits: bits, [Self.packed(Self.colors, bits: bits, row: 60)]), within: 1 + (step + 1) / 2)
        try await expect(
            Self.tiff(bits: bits, samples: 1, photometric: 1, [Self.packed(Self.grays, bits: bits, row: 20)]),
            Self.grays, within: 1 + (step + 1) / 2)
    }

    @Test("Unsigned numbers of 16 and 32 bits")
    func unsigned() async throws {
        try await expect(Self.tiff(bits: 16, [Self.little(Self.colors.map { Int($0) * 257 }, 2)]))
        try await expect(Self.tiff(bits: 32, [Self.little(Self.colors.map { Int($0) * 0x0101_0101 }, 4)]))
    }

    @Test("Signed numbers, from 0 or, where one is below it, from the type's lowest", arguments: [16, 32])
    func signed(_ bits: Int) async throws {
        let half = 1 << (bits - 1)
        let scale = (2 * half - 1) / 255
        let upper = Self.colors.map { Int($0) * scale / 2 }
        let whole = Self.colors.map { Int($0) * scale - half }
        for numbers in [upper, whole] {
            let file = Self.tiff(bits: bits, [Self.little(numbers, bits / 8)])
            try await expect(file.with(339, [2, 2, 2]), within: 2)
        }
    }

    @Test("Signed numbers of 8 bits are read as bytes, since the files of programs that write them hold bytes")
    func signedBytes() async throws {
        try await expect(Self.tiff(bits: 8, [Self.colors]).with(339, [2, 2, 2]), within: 0)
    }

    @Test("Numbers of 64 bits are refused by what they are")
    func wide() async throws {
        for (format, words) in [(1, "64 bits a sample"), (2, "signed numbers of 64 bits")] {
            let file = Self.tiff(bits: 64, [Self.little(Self.colors.map(Int.init), 8)])
                .with(339, [format, format, format])
            let error = await #expect(throws: LoadError.self) { try await SampleImage.decode(file.bytes) }
            #expect(error?.code == .unsupportedType)
            #expect(error?.message.contains(words) == true)
        }
    }

    @Test("Floating-point numbers are linear light, or a profile's colours where there is one")
    func floats() async throws {
        let light = Self.colors.map { level -> Int in
            let share = Double(level) / 255
            let linear = share <= 0.04045 ? share / 12.92 : pow((share + 0.055) / 1.055, 2.4)
            return Int(Float(linear).bitPattern)
        }
        try await expect(Self.tiff(bits: 32, [Self.little(light, 4)]).with(339, [3, 3, 3]))
        let shares = Self.colors.map { Int((Float($0) / 255).bitPattern) }
        let profiled = Self.tiff(bits: 32, [Self.little(shares, 4)]).with(339, [3, 3, 3])
            .with(34675, ICCProfile.sRGB.map(Int.init), type: 7)
        try await expect(profiled)
        // Greys above 1 are levels.
        let levels = Self.grays.map { Int(Float($0).bitPattern) }
        try await expect(
            Self.tiff(bits: 32, samples: 1, photometric: 1, [Self.little(levels, 4)]).with(339, [3]), Self.grays)
    }

    @Test("Planes, in strips and tiles, with more samples than colours")
    func planes() async throws {
        try await expect(Self.tiff((0..<3).map { Self.plane($0) }).planar)
        try await expect(Self.tiff((0..<3).flatMap { Self.tiles(Self.plane($0), samples: 1) }).planar.tiled(16, 16))
        try await expect(
            Self.tiff(samples: 5, (0..<5).map { Self.plane($0 % 3) }).planar.with(338, [0, 0]))
        try await expect(Self.tiff(Self.tiles(Self.colors, samples: 3)).tiled(16, 16))
    }

    @Test("Planes in several strips are read a strip or a row of each at a time")
    func planesInStrips() async throws {
        let strips = (0..<3).flatMap { channel in
            [0, 40, 80].map { Array(Self.plane(channel)[$0..<$0 + 40]) }
        }
        let file = Self.tiff(strips).planar.with(278, [2], type: 4)
        try await expect(file)
        let byRows = try await SampleImage.decode(file.bytes, with: Decode(allowTruncated: true))
        #expect(byRows.pixels == Self.colors)
    }

    @Test("Strips whose last one is shorter are read whole, and the rows of a long one singly", arguments: [7, 3000])
    func strips(_ width: Int) async throws {
        let levels = (0..<width * 101).map { UInt8(truncatingIfNeeded: $0 / 3) }
        let strips = stride(from: 0, to: 101, by: 25).map {
            Array(levels[$0 * width..<min(101, $0 + 25) * width])
        }
        let file = TIFFBytes(width: width, height: 101, samples: 1, photometric: 1, pieces: strips)
        #expect(try await SampleImage.decode(file.with(278, [25], type: 4).bytes).pixels == levels)
    }

    @Test("Short rows are checked for cancellation by the kilobyte", arguments: [1, 20_000])
    func checks(_ rowsPerStrip: Int) throws {
        let strips = [[UInt8]](repeating: [UInt8](repeating: 9, count: 4 * rowsPerStrip), count: 20_000 / rowsPerStrip)
        let file = TIFFBytes(width: 4, height: 20_000, samples: 1, photometric: 1, pieces: strips)
            .with(278, [rowsPerStrip], type: 4).bytes
        let decoder = TIFFDecoder()
        let header = try decoder.header(of: file, cancellation: WorkCancellation())
        for allowTruncated in [false, true] {
            let (looks, _) = try ImpatientClock.looks(patience: .max) { cancellation in
                _ = try decoder.decode(
                    file, header: header, box: nil, options: DecodeOptions(allowTruncated: allowTruncated),
                    cancellation: cancellation)
            }
            #expect((1...20).contains(looks))
        }
    }

    /// Brightness and colour of grey levels.
    private static func brightness(_ across: Int, _ down: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        for top in stride(from: 0, to: 6, by: down) {
            for left in stride(from: 0, to: 20, by: across) {
                for y in top..<top + down { for x in left..<left + across { bytes.append(grays[y * 20 + x]) } }
                bytes += [128, 128]
            }
        }
        return bytes
    }

    @Test("Brightness and colour, as they are and with fewer colours", arguments: [(1, 1), (2, 1), (2, 2), (4, 2)])
    func brightness(_ across: Int, _ down: Int) async throws {
        let file = Self.tiff(photometric: 6, [Self.brightness(across, down)]).with(530, [across, down])
        try await expect(file, Self.grays.flatMap { [$0, $0, $0] })
    }

    @Test("Brightness and colour in planes; with fewer colours they are refused by name")
    func planesOfBrightness() async throws {
        let gray = [UInt8](repeating: 128, count: 120)
        let file = Self.tiff(photometric: 6, [Self.grays, gray, gray]).planar.with(530, [1, 1])
        try await expect(file, Self.grays.flatMap { [$0, $0, $0] })
        let error = try await #require(throws: LoadError.self) {
            try await SampleImage.decode(file.with(530, [2, 2]).bytes)
        }
        #expect(error.code == .unsupportedType)
        #expect(error.message.contains("planes of colour"))
    }

    @Test("Without a photometric interpretation three samples are colours and one is grey")
    func noPhotometric() async throws {
        try await expect(Self.tiff(photometric: nil, [Self.colors]))
        try await expect(Self.tiff(samples: 1, photometric: nil, [Self.grays]), Self.grays)
    }

    @Test("A fax without any field that says how it is coded is black on white")
    func fax() async throws {
        // Group 4 (ITU-T T.6): each row as the one before, all white, then the end of the block twice.
        var file = Self.tiff(bits: 1, samples: 1, photometric: nil, compression: 4, [[0xfc, 0x00, 0x40, 0x04]])
        file.fields[277] = nil
        file.fields[258] = nil
        try await expect(file, [UInt8](repeating: 255, count: 120))
    }

    @Test("Transparency, straight and multiplied, and an unnamed fourth sample")
    func alpha() async throws {
        let straight: [UInt8] = (0..<120).flatMap { _ in [200, 100, 50, 128] as [UInt8] }
        let multiplied: [UInt8] = (0..<120).flatMap { _ in [100, 50, 25, 128] as [UInt8] }
        try await expect(Self.tiff(samples: 4, [straight]).with(338, [2]), straight)
        try await expect(Self.tiff(samples: 4, [multiplied]).with(338, [1]), straight)
        try await expect(Self.tiff(samples: 4, [straight]), straight)
    }

    @Test("Indices, white that is 0, and inks without a profile")
    func others() async throws {
        let map = (0..<3).flatMap { channel in (0..<16).map { [$0, 15 - $0, 6][channel] * 4369 } }
        let indices = Self.grays.map { $0 / 16 * 17 }
        try await expect(
            Self.tiff(bits: 4, samples: 1, photometric: 3, [Self.packed(indices, bits: 4, row: 20)]).with(320, map),
            indices.flatMap { [$0, 255 - $0, 102] })
        try await expect(Self.tiff(samples: 1, photometric: 0, [Self.grays.map { 255 - $0 }]), Self.grays)
        let inks = Self.colors.indices.flatMap { index -> [UInt8] in
            index % 3 == 2
                ? [255 - Self.colors[index - 2], 255 - Self.colors[index - 1], 255 - Self.colors[index], 0] : []
        }
        try await expect(Self.tiff(samples: 4, photometric: 5, [inks]))
    }

    @Test("CIELAB, relative to D50: white, black, and grey of 50")
    func lab() async throws {
        // CIE's lightness of 50 is sRGB's 119.
        for (photometric, zero) in [(8, UInt8(0)), (9, 128)] {
            let pixels: [UInt8] = (0..<120).flatMap {
                [[255, zero, zero], [0, zero, zero], [128, zero, zero]][$0 % 3]
            }
            let expected: [UInt8] = (0..<120).flatMap { index -> [UInt8] in
                let level: UInt8 = [255, 0, 119][index % 3]
                return [level, level, level]
            }
            try await expect(Self.tiff(photometric: photometric, [pixels]), expected)
        }
    }

    @Test(
        "More samples a pixel than any picture has are refused before there is room for one",
        arguments: [9, 400, 10_000])
    func samples(_ count: Int) async throws {
        let file = TIFFBytes(width: 7000, height: 7000, samples: count, photometric: 1, pieces: [[0]]).planar
        let error = try #require(throws: LoadError.self) {
            try TIFFDecoder().header(of: file.bytes, cancellation: WorkCancellation())
        }
        #expect(error.code == .unsupportedType)
        #expect(error.message.contains("\(count) samples"))
    }

    @Test("What isn't read is called by its name, not damaged", arguments: [(259, 34712), (262, 32803), (339, 6)])
    func names(_ tag: Int, _ value: Int) async throws {
        let file = Self.tiff([Self.colors]).with(tag, tag == 339 ? [value, value, value] : [value])
        let error = try await #require(throws: LoadError.self) { try await SampleImage.decode(file.bytes) }
        #expect(error.code == .unsupportedType)
        #expect(error.message.contains("is not supported"))
    }

    @Test("A last strip that ends early is an error, or what there is of it if that is allowed")
    func cutOff() async throws {
        let cut = Array(Self.tiff([Self.colors]).bytes.dropLast(90))
        let error = try await #require(throws: LoadError.self) { try await SampleImage.decode(cut) }
        #expect(error.code == .undecodable)
        let image = try await SampleImage.decode(cut, with: Decode(allowTruncated: true))
        #expect(Array(image.pixels.prefix(270)) == Array(Self.colors.prefix(270)))
        #expect(image.pixels.suffix(90).allSatisfy { $0 == 0 })
    }

    @Test("The estimate of memory is that of a strip, a row of tiles or a plane's row, and not of the whole picture")
    func memory() throws {
        func memory(_ file: TIFFBytes) throws -> Int {
            try TIFFDecoder().header(of: file.bytes, cancellation: WorkCancellation()).memory
        }
        for side in [1000, 2000, 4000] {
            let file = TIFFBytes(width: side, height: side, samples: 3, photometric: 2, pieces: [[0]])
            // Each strip and each tile has a line in libtiff's list.
            #expect(try memory(file.with(278, [16], type: 4)) == side * 16 * 3 + (side + 15) / 16 * 24)
            #expect(try memory(file) == side * side * 3 + 24)
            let (tiles, across) = (try memory(file.tiled(256, 256)), (side + 255) / 256)
            #expect(tiles == side * 256 * 3 + 2 * 256 * 256 * 3 + across * across * 24)
        }
    }

    @Test("Pages are counted, and a directory that follows itself ends the count", arguments: [1, 2, 300])
    func pages(_ count: Int) {
        var file: [UInt8] = [0x49, 0x49, 42, 0, 8, 0, 0, 0]
        for page in 0..<count {
            let next = page + 1 == count ? 0 : 8 + (page + 1) * 6
            file += [0, 0] + (0..<4).map { UInt8(truncatingIfNeeded: next >> (8 * $0)) }
        }
        #expect(TIFFPages.count(file) == count)
        file[file.count - 4] = 8
        #expect(TIFFPages.count(file) == TIFFPages.most)
    }

    @Test("A strip behind the end of a file that is cut off is looked for once, not for each row")
    func missing() async throws {
        var file = TIFFBytes(width: 400, height: 60_000, samples: 3, photometric: 2, pieces: [[7]]).bytes
        // StripOffsets and StripByteCounts.
        let values: [[UInt8]: [UInt8]] = [[0x11, 1]: [0, 0x5a, 0x62, 2], [0x17, 1]: [0, 0xa2, 0x4a, 4]]
        for entry in stride(from: 10, to: 10 + 12 * Int(file[8]), by: 12) {
            guard let value = values[Array(file[entry..<entry + 2])] else { continue }
            file.replaceSubrange(entry + 8..<entry + 12, with: value)
        }
        // Within the time limit: each row took as long as all of them.
        let image = try await SampleImage.decode(file, maxPixelSize: 100, with: Decode(allowTruncated: true))
        #expect(image.pixels.allSatisfy { $0 == 0 })
    }

    @Test("A cancelled decode stops within the picture")
    func cancelled() throws {
        let file = TIFFBytes(
            width: 64, height: 64, samples: 3, photometric: 2, pieces: [[UInt8](repeating: 9, count: 64 * 64 * 3)]
        ).bytes
        let decoder = TIFFDecoder()
        let header = try decoder.header(of: file, cancellation: WorkCancellation())
        let cancellation = WorkCancellation()
        cancellation.cancel()
        #expect(throws: CancellationError.self) {
            try decoder.decode(file, header: header, box: nil, options: DecodeOptions(), cancellation: cancellation)
        }
    }
}
