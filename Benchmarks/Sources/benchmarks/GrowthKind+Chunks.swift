import Pipeline
import Stages

extension GrowthKind {
    /// Files with many pieces other than pixels.
    static func chunks(_ image: DecodedImage) async throws -> [GrowthKind] {
        let png = try await encoded(image, .png)
        let webp = try await encoded(image, .webp)
        let baseline = try await encoded(image, .jpeg)
        let progressive = try await encoded(image, .jpeg) { $0.jpeg.progressive = true }
        let gif = try await encoded(image, .gif)
        return [
            GrowthKind(name: "PNG chunks, unknown", sizes: [24_000, 48_000, 96_000], ordinary: { png }) {
                let chunk = pngChunk("juNk", [])
                return Array(png[..<33]) + (0..<$0).flatMap { _ in chunk } + png[33...]
            },
            GrowthKind(name: "PNG chunks, pixels", sizes: [24_000, 48_000, 96_000], ordinary: { png }) {
                split(png, into: $0)
            },
            GrowthKind(name: "WebP chunks", sizes: [16_000, 32_000, 64_000], ordinary: { webp }) {
                let body = Array(webp[8...]) + (0..<$0).flatMap { _ in Array("JUNK".utf8) + little(0, 4) }
                return Array("RIFF".utf8) + little(body.count, 4) + body
            },
            GrowthKind(
                name: "JPEG segments", sizes: [250_000, 500_000, 1_000_000],
                piece: .init(microseconds: 0.01, reason: "libjpeg reads each segment, for the header and the pixels"),
                ordinary: { baseline }
            ) {
                inserted((0..<$0).flatMap { _ in [0xff, 0xe9, 0, 2] as [UInt8] }, in: baseline)
            },
            GrowthKind(name: "JPEG bytes between", sizes: [4_000_000, 8_000_000, 16_000_000], ordinary: { baseline }) {
                inserted([UInt8](repeating: 0, count: $0), in: baseline)
            },
            GrowthKind(name: "JPEG profile, bytes", sizes: [500_000, 1_000_000, 2_000_000], ordinary: { baseline }) {
                inserted(profile($0), in: baseline)
            },
            GrowthKind(name: "JPEG scans", sizes: [5, 10, 20], ordinary: { progressive }) {
                scans(progressive, copies: $0)
            },
            GrowthKind(name: "GIF extensions", sizes: [250_000, 500_000, 1_000_000], ordinary: { gif }) { count in
                // After the header and its colours.
                let start = 13 + 3 * (2 << Int(gif[10] & 7))
                return Array(gif[..<start]) + (0..<count).flatMap { _ in [0x21, 0xfe, 1, 65, 0] as [UInt8] }
                    + gif[start...]
            },
        ]
    }

    private static func pngChunk(_ name: String, _ body: [UInt8]) -> [UInt8] {
        let named = Array(name.utf8) + body
        return big(body.count, 4) + named + big(Int(checksum(named)), 4)
    }

    /// CRC-32 (ISO/IEC 15948 annex D).
    private static func checksum(_ bytes: [UInt8]) -> UInt32 {
        ~bytes.reduce(0xffff_ffff) { crc, byte in
            (0..<8).reduce(crc ^ UInt32(byte)) { crc, _ in crc & 1 == 1 ? crc >> 1 ^ 0xedb8_8320 : crc >> 1 }
        }
    }

    /// Splits the pixels of a PNG into many chunks.
    private static func split(_ png: [UInt8], into count: Int) -> [UInt8] {
        var (position, before, pixels, after) = (8, [UInt8](), [UInt8](), [UInt8]())
        while position + 12 <= png.count {
            let length = png[position..<position + 4].reduce(0) { $0 << 8 | Int($1) }
            let whole = png[position..<position + 12 + length]
            if png[position + 4..<position + 8].elementsEqual("IDAT".utf8) {
                pixels += png[position + 8..<position + 8 + length]
            } else if pixels.isEmpty {
                before += whole
            } else {
                after += whole
            }
            position += 12 + length
        }
        let size = pixels.count / count + 1
        let chunks = stride(from: 0, to: pixels.count, by: size).flatMap {
            pngChunk("IDAT", Array(pixels[$0..<min(pixels.count, $0 + size)]))
        }
        return Array(png[..<8]) + before + chunks + after
    }

    private static func inserted(_ segments: [UInt8], in jpeg: [UInt8]) -> [UInt8] {
        // After the first segment.
        let end = 4 + (Int(jpeg[4]) << 8 | Int(jpeg[5]))
        return Array(jpeg[..<end]) + segments + jpeg[end...]
    }

    /// Repeats a scan of a progressive JPEG.
    private static func scans(_ jpeg: [UInt8], copies: Int) -> [UInt8] {
        let starts = jpeg.indices.dropLast().filter { jpeg[$0] == 0xff && jpeg[$0 + 1] == 0xda }
        guard starts.count > 2 else { return jpeg }
        let scan = jpeg[starts[0]..<starts[1]]
        return Array(jpeg[..<starts[0]]) + (0..<copies).flatMap { _ in scan } + jpeg[starts[0]...]
    }

    /// Returns an ICC profile of curves with about this many bytes, in as many segments as it needs.
    private static func profile(_ count: Int) -> [UInt8] {
        let length = count / 3 / 2 * 2
        let matrix: [(String, [Int])] = [
            ("rXYZ", [0x6fa2, 0x38f5, 0x390]), ("gXYZ", [0x6299, 0xb785, 0x18da]), ("bXYZ", [0x24a0, 0xf84, 0xb6cf]),
        ]
        var (table, data) = ([UInt8](), [UInt8]())
        let start = 128 + 4 + 12 * 7
        func add(_ name: String, _ body: [UInt8]) {
            table += Array(name.utf8) + big(start + data.count, 4) + big(body.count, 4)
            data += body
        }
        for (name, values) in matrix { add(name, Array("XYZ ".utf8) + big(0, 4) + values.flatMap { big($0, 4) }) }
        add("wtpt", Array("XYZ ".utf8) + big(0, 4) + [0xf6d6, 0x10000, 0xd32d].flatMap { big($0, 4) })
        let curve = (0..<length / 2).flatMap { big($0 * 65_535 / (length / 2), 2) }
        for name in ["rTRC", "gTRC", "bTRC"] {
            add(name, Array("curv".utf8) + big(0, 4) + big(curve.count / 2, 4) + curve)
        }
        let head =
            big(0, 8) + big(0x0240_0000, 4) + Array("mntrRGB XYZ ".utf8) + big(0, 12) + Array("acsp".utf8)
            + [UInt8](repeating: 0, count: 88)
        let all: [UInt8] = Array(head[..<128]) + big(7, 4) + table + data
        let pieces = stride(from: 0, to: all.count, by: 65_000).map { Array(all[$0..<min(all.count, $0 + 65_000)]) }
        return pieces.enumerated().flatMap { index, piece in
            let body = Array("ICC_PROFILE\0".utf8) + [UInt8(index + 1), UInt8(pieces.count)] + piece
            return [0xff, 0xe2] + big(body.count + 2, 2) + body
        }
    }
}
