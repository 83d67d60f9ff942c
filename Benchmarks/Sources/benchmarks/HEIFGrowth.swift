import Foundation
import Pipeline

/// Makes HEIC and AVIF files with many of something (ISO/IEC 23008-12), around the coded picture of a sample.
enum HEIFGrowth {
    private struct Sample {
        let brand, type, configurationType: String
        let configuration, data: [UInt8]
        let width, height: Int
    }

    static func kinds() throws -> [GrowthKind] {
        let heic = try sample("heic-128.heif", "heic", "hvc1", "hvcC", 128, 128, length: 6290)
        let avif = try sample("avif-photo.avif", "avif", "av01", "av1C", 403, 302, length: 15_076)
        let nested = [UInt8](try Data(contentsOf: URL(filePath: "Tests/Images/generated/animated.avif")))
        return [heic, avif].flatMap { sample in
            let name = sample.brand.uppercased()
            return [
                GrowthKind(
                    name: "\(name) items", sizes: [1500, 3000, 6000],
                    piece: .init(
                        microseconds: 1, reason: "each is checked before a library reads any, up to 7,000"),
                    ordinary: { file(sample, tiles: 1) }
                ) {
                    file(sample, tiles: 1, items: $0)
                },
                GrowthKind(name: "\(name) extents", sizes: [500, 1000, 2000], ordinary: { file(sample, tiles: 1) }) {
                    file(sample, tiles: 1, extents: $0)
                },
                GrowthKind(name: "\(name) tiles", sizes: [64, 128, 256], ordinary: { file(sample, tiles: 256) }) {
                    file(sample, tiles: $0)
                },
                GrowthKind(name: "\(name) nesting", sizes: [1000, 2000, 4000], ordinary: { file(sample, tiles: 1) }) {
                    file(sample, tiles: 1, nesting: $0)
                },
            ]
        } + [
            GrowthKind(name: "AVIF movie, nesting", sizes: [2000, 4000, 8000], ordinary: { nested }) { depth in
                box("ftyp", Array("avis\0\0\0\0avis".utf8)) + box("moov", box("trak", box("mdia", deep("minf", depth))))
            },
            GrowthKind(
                name: "AVIF movie, samples", sizes: [25_000, 50_000, 100_000],
                piece: .init(microseconds: 0.05, reason: "libavif lists all frames of both tracks"),
                ordinary: { sequence(nested, samples: 100) }
            ) { sequence(nested, samples: $0) },
        ]
    }

    /// Returns a sequence whose tables list its first picture `samples` times.
    private static func sequence(_ file: [UInt8], samples: Int) -> [UInt8] {
        let number = GrowthKind.big
        func value(_ body: ArraySlice<UInt8>, at offset: Int) -> Int {
            body.dropFirst(offset).prefix(4).reduce(0) { $0 << 8 | Int($1) }
        }
        func rebuilt(_ content: ArraySlice<UInt8>, moved: Int) -> [UInt8] {
            var (rest, result) = (content, [UInt8]())
            while rest.count >= 8 {
                let whole = rest.prefix(value(rest, at: 0))
                let (type, body) = (String(decoding: whole.dropFirst(4).prefix(4), as: UTF8.self), whole.dropFirst(8))
                let count = number(0, 4) + number(samples, 4)
                switch type {
                case "moov", "trak", "mdia", "minf", "stbl": result += box(type, rebuilt(body, moved: moved))
                case "stco":
                    let place = number(value(body, at: 8) + moved, 4)
                    result += box(type, count + (0..<samples).flatMap { _ in place })
                case "stsc": result += box(type, number(0, 4) + (0..<4).flatMap { _ in number(1, 4) })
                case "stsz": result += box(type, number(0, 4) + number(value(body, at: 12), 4) + number(samples, 4))
                case "stss": result += box(type, count + (1...samples).flatMap { number($0, 4) })
                case "stts": result += box(type, count + (0..<samples).flatMap { _ in number(1, 4) + number(100, 4) })
                default: result += whole
                }
                rest = rest.dropFirst(max(8, whole.count))
            }
            return result
        }
        return rebuilt(file[...], moved: rebuilt(file[...], moved: 0).count - file.count)
    }

    private static func sample(
        _ name: String, _ brand: String, _ type: String, _ configurationType: String, _ width: Int, _ height: Int,
        length: Int
    ) throws -> Sample {
        let bytes = [UInt8](try Data(contentsOf: URL(filePath: "Tests/Images/good/\(name)")))
        func content(_ type: String) -> [UInt8] {
            let name = Array(type.utf8)
            guard let at = bytes.indices.dropLast(4).first(where: { bytes[$0..<$0 + 4].elementsEqual(name) }) else {
                return []
            }
            let length = bytes[at - 4..<at].reduce(0) { $0 << 8 | Int($1) }
            return Array(bytes[at + 4..<at - 4 + length])
        }
        return Sample(
            brand: brand, type: type, configurationType: configurationType, configuration: content(configurationType),
            // Other items come first.
            data: content("mdat").suffix(length), width: width, height: height)
    }

    private static func box(_ type: String, _ content: [UInt8]) -> [UInt8] {
        GrowthKind.big(content.count + 8, 4) + Array(type.utf8) + content
    }

    private static func deep(_ type: String, _ depth: Int) -> [UInt8] {
        (0..<depth).flatMap { GrowthKind.big(8 * (depth - $0), 4) + Array(type.utf8) }
    }

    /// - Parameters:
    ///   - tiles: The tiles of a grid, 16 in a row; 1 for a picture without a grid.
    ///   - more: The number of additional items, of a byte each.
    ///   - extents: The number of extents of the first item.
    ///   - nesting: How deeply a box of properties is nested.
    private static func file(
        _ sample: Sample, tiles: Int, items more: Int = 0, extents: Int = 1, nesting: Int = 0
    ) -> [UInt8] {
        let number = GrowthKind.big
        let (columns, rows) = (min(16, tiles), (tiles + 15) / 16)
        let (width, height) = (columns * sample.width, rows * sample.height)
        var items = (0..<tiles).map { _ in (type: sample.type, data: sample.data, properties: [1, 2] as [UInt8]) }
        if tiles > 1 {
            let grid: [UInt8] = [0, 1, UInt8(rows - 1), UInt8(columns - 1)]
            items.append(("grid", grid + number(width, 4) + number(height, 4), [3]))
        }
        let primary = items.count
        items += (0..<more).map { _ in ("Exif", [0], []) }
        func list(_ start: Int) -> [UInt8] {
            var (places, entries, used, offset) = ([UInt8](), [UInt8](), [UInt8](), start)
            for (index, item) in items.enumerated() {
                let parts = index == 0 ? min(extents, item.data.count) : 1
                places += number(index + 1, 2) + number(0, 2) + number(parts, 2)
                for part in 0..<parts {
                    let (from, to) = (item.data.count * part / parts, item.data.count * (part + 1) / parts)
                    places += number(offset + from, 4) + number(to - from, 4)
                }
                offset += item.data.count
                entries += box(
                    "infe", number(0x200_0000, 4) + number(index + 1, 2) + [0, 0] + Array(item.type.utf8) + [0])
                used += number(index + 1, 2) + [UInt8(item.properties.count)] + item.properties
            }
            let tileNumbers = (1...tiles).flatMap { number($0, 2) }
            let links = tiles > 1 ? box("dimg", number(primary, 2) + number(tiles, 2) + tileNumbers) : []
            let sizes = [(sample.width, sample.height), (width, height)].map { width, height in
                box("ispe", number(0, 4) + number(width, 4) + number(height, 4))
            }
            let properties =
                sizes[0] + box(sample.configurationType, sample.configuration) + sizes[1] + deep("ipro", nesting)
            let handler = box("hdlr", number(0, 8) + Array("pict".utf8) + number(0, 13))
            let body =
                number(0, 4) + handler + box("pitm", number(0, 4) + number(primary, 2))
                + box("iloc", number(0, 4) + [0x44, 0] + number(items.count, 2) + places)
            return box(
                "meta",
                body + box("iinf", number(0, 4) + number(items.count, 2) + entries) + box("iref", number(0, 4) + links)
                    + box(
                        "iprp",
                        box("ipco", properties) + box("ipma", number(0, 4) + number(items.count, 4) + used)))
        }
        let type = box("ftyp", Array(sample.brand.utf8) + number(0, 4) + Array("mif1\(sample.brand)".utf8))
        return type + list(type.count + list(0).count + 8) + box("mdat", items.flatMap(\.data))
    }
}
