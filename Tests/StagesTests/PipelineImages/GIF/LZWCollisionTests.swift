import CImages
import Testing

/// The tables of LZW place a string by a product with a factor. A picture's author must not know it: strings that all meet
/// in one place took a thousand times as long.
@Suite("Pixels can't be chosen so that LZW's table degenerates")
struct LZWCollisionTests {
    /// The factor that once was the same for every file.
    private static let known: UInt32 = 0x9e37_79b1
    private static let others: [UInt32] = [0x85eb_ca6b, 0xc2b2_ae35, 0x27d4_eb2f, 0x1656_67b1, 0xb529_7a4d]

    /// Bytes whose pairs, with the known factor, lie in a sixteenth of the table.
    private static func bytes(slot: (UInt32) -> UInt32, slots: UInt32) -> [UInt8] {
        // For each byte those that may follow it.
        var left = (0..<256).map { first in
            (0..<256).filter { slot(UInt32(first << 8 | $0)) < slots / 16 }
        }
        var result = [0]
        while result.count < 3500, let last = result.last {
            // Where there is none, any byte that leads on.
            let next = (left[last].isEmpty ? Array(0..<256) : left[last]).max { left[$0].count < left[$1].count }
            guard let next else { break }
            left[last].removeAll { $0 == next }
            result.append(next)
        }
        return result.map { UInt8($0) }
    }

    private func gifProbes(_ bytes: [UInt8], factor: UInt32?) -> (probes: UInt64, factor: UInt32) {
        let packer = UnsafeMutablePointer<cgif_packer>.allocate(capacity: 1)
        defer { packer.deallocate() }
        cgif_pack_start(packer, 8)
        if let factor { packer.pointee.factor = factor }
        var output = [UInt8](repeating: 0, count: cgif_pack_limit(bytes.count))
        _ = cgif_pack(packer, bytes, bytes.count, &output)
        return (packer.pointee.probes, packer.pointee.factor)
    }

    private func tiffProbes(_ bytes: [UInt8], factor: UInt32?) -> (probes: UInt64, factor: UInt32) {
        let lzw = UnsafeMutablePointer<ctiff_lzw>.allocate(capacity: 1)
        defer { lzw.deallocate() }
        ctiff_lzw_begin(lzw)
        if let factor { lzw.pointee.factor = factor }
        var output = [UInt8](repeating: 0, count: ctiff_lzw_bound(bytes.count))
        _ = ctiff_lzw_pack(lzw, bytes, bytes.count, &output)
        return (lzw.pointee.probes, lzw.pointee.factor)
    }

    @Test("Those of GIF are spread by a factor that is drawn for each frame")
    func gif() {
        let bytes = Self.bytes(slot: { (($0 + 1) &* Self.known) >> 18 }, slots: 16_384)
        check(bytes, gifProbes)
    }

    @Test("Those of TIFF are spread by a factor that is drawn for each strip")
    func tiff() {
        let bytes = Self.bytes(slot: { ($0 &* Self.known) >> 19 }, slots: 8192)
        check(bytes, tiffProbes)
    }

    private func check(_ bytes: [UInt8], _ probes: ([UInt8], UInt32?) -> (probes: UInt64, factor: UInt32)) {
        #expect(probes(bytes, Self.known).probes > 500 * UInt64(bytes.count))
        for factor in Self.others { #expect(probes(bytes, factor).probes < 8 * UInt64(bytes.count), "\(factor)") }
        let drawn = (0..<4).map { _ in probes(bytes, nil).factor }
        #expect(Set(drawn).count > 1)
        #expect(drawn.allSatisfy { $0 % 2 == 1 })
    }
}
