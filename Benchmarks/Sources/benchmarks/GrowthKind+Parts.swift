import Pipeline
import Stages

extension GrowthKind {
    /// Files whose pixels are in many pieces.
    static var parts: [GrowthKind] {
        [
            GrowthKind(
                name: "TIFF strips", sizes: [25_000, 50_000, 100_000],
                piece: .init(microseconds: 0.05, reason: "libtiff looks up each strip, which has one row here"),
                ordinary: { GrowthTIFF.file(width: 1732, height: 1732, rowsPerStrip: 64) }
            ) { GrowthTIFF.file(width: 30, height: $0, rowsPerStrip: 1) },
            GrowthKind(
                name: "TIFF tags", sizes: [125, 250, 500],
                piece: .init(
                    microseconds: 20, reason: "libtiff sorts all known tags for each unknown one, of up to 512"),
                ordinary: { GrowthTIFF.file(width: 1000, height: 1000, rowsPerStrip: 64) }
            ) { GrowthTIFF.file(width: 1000, height: 1000, rowsPerStrip: 64, tags: $0) },
            GrowthKind(
                name: "TIFF samples", sizes: [2, 4, 8],
                ordinary: { GrowthTIFF.file(width: 1000, height: 1000, rowsPerStrip: 64, samples: 4) }
            ) { GrowthTIFF.file(width: 1000, height: 1000, rowsPerStrip: 64, samples: $0) },
            GrowthKind(
                name: "TIFF planes", sizes: [2, 4, 8],
                ordinary: {
                    GrowthTIFF.file(width: 1000, height: 1000, rowsPerStrip: 64, samples: 3, isPlanar: true)
                }
            ) { GrowthTIFF.file(width: 1000, height: 1000, rowsPerStrip: 64, samples: $0, isPlanar: true) },
            GrowthKind(
                name: "BMP runs beyond rows", sizes: [1_000_000, 2_000_000, 4_000_000], ordinary: { runs(0) },
                make: runs),
        ]
    }

    /// Makes a bitmap of runs, with more runs past the end of each row.
    private static func runs(_ more: Int) -> [UInt8] {
        let side = 1000
        var file = Array("BM".utf8) + little(0, 8) + little(54 + 1024, 4)
        file += little(40, 4) + little(side, 4) + little(side, 4) + little(1, 2) + little(8, 2) + little(1, 4)
        file += little(0, 20) + (0..<256).flatMap { [UInt8($0), UInt8($0), UInt8($0), 0] }
        for y in 0..<side {
            for x in 0..<side / 2 { file += [2, UInt8(truncatingIfNeeded: x + y)] }
            for _ in 0..<more / side { file += [255, 7] }
            file += [0, 0]
        }
        return file
    }
}

/// TIFF files of plain pixels (TIFF 6.0).
enum GrowthTIFF {
    static func file(
        width: Int, height: Int, rowsPerStrip: Int, samples: Int = 1, isPlanar: Bool = false, tags: Int = 0,
        pages: Int = 1
    ) -> [UInt8] {
        let number = GrowthKind.little
        let (planes, inPixel) = isPlanar ? (samples, 1) : (1, samples)
        let strips = (height + rowsPerStrip - 1) / rowsPerStrip * planes
        let pixels = (0..<width * height * samples).map { UInt8(truncatingIfNeeded: $0 / 7 ^ $0 / 5000) }
        var lengths: [Int] = []
        for _ in 0..<planes {
            for top in stride(from: 0, to: height, by: rowsPerStrip) {
                lengths.append(min(rowsPerStrip, height - top) * width * inPixel)
            }
        }
        var offset = 8
        let offsets = lengths.map { length in
            defer { offset += length }
            return offset
        }
        let lists = 8 + pixels.count
        let values = offsets.flatMap { number($0, 4) } + lengths.flatMap { number($0, 4) }
        let bits = (0..<samples).flatMap { _ in number(8, 2) }
        let start = lists + values.count + bits.count
        func entry(_ tag: Int, _ type: Int, _ count: Int, _ value: Int) -> [UInt8] {
            number(tag, 2) + number(type, 2) + number(count, 4) + number(value, 4)
        }
        var entries = [
            entry(256, 4, 1, width), entry(257, 4, 1, height),
            entry(258, 3, samples, samples > 2 ? lists + values.count : samples == 2 ? 0x8_0008 : 8),
            entry(259, 3, 1, 1), entry(262, 3, 1, samples > 2 ? 2 : 1),
            entry(273, 4, strips, strips == 1 ? offsets[0] : lists), entry(277, 3, 1, samples),
            entry(278, 4, 1, rowsPerStrip),
            entry(279, 4, strips, strips == 1 ? lengths[0] : lists + 4 * strips),
            entry(284, 3, 1, isPlanar ? 2 : 1),
        ]
        entries += (0..<tags).map { entry(40_000 + $0 % 20_000, 4, 1, 7) }
        var file = Array("II".utf8) + number(42, 2) + number(start, 4) + pixels + values + bits
        for page in 0..<pages {
            let next = file.count + 2 + 12 * entries.count + 4
            file += number(entries.count, 2) + entries.joined() + number(page == pages - 1 ? 0 : next, 4)
        }
        return file
    }
}
