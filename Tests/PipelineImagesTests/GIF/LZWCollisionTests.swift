import CImages
import Testing

/// The table of GIF's LZW places a string by a product with a factor. A picture's author must not know it: strings that all
/// meet in one place took a thousand times as long.
@Suite("Pixels can't be chosen so that GIF's LZW table degenerates")
struct LZWCollisionTests {
    /// The factor that once was the same for every file.
    private static let known: UInt32 = 0x9e37_79b1
    private static let others: [UInt32] = [0x85eb_ca6b, 0xc2b2_ae35, 0x27d4_eb2f, 0x1656_67b1, 0xb529_7a4d]

    /// Bytes whose pairs, with the known factor, lie in a sixteenth of the table.
    private static var bytes: [UInt8] {
        // For each byte those that may follow it.
        var left = (0..<256).map { first in
            (0..<256).filter { ((UInt32(first << 8 | $0) + 1) &* known) >> 18 < 16_384 / 16 }
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

    private func probes(_ bytes: [UInt8], factor: UInt32?) -> (probes: UInt64, factor: UInt32) {
        let packer = UnsafeMutablePointer<cgif_packer>.allocate(capacity: 1)
        defer { packer.deallocate() }
        cgif_pack_start(packer, 8)
        if let factor { packer.pointee.factor = factor }
        var output = [UInt8](repeating: 0, count: cgif_pack_limit(bytes.count))
        _ = cgif_pack(packer, bytes, bytes.count, &output)
        return (packer.pointee.probes, packer.pointee.factor)
    }

    @Test("The factor is drawn for each frame")
    func drawn() {
        let bytes = Self.bytes
        #expect(probes(bytes, factor: Self.known).probes > 500 * UInt64(bytes.count))
        for factor in Self.others {
            #expect(probes(bytes, factor: factor).probes < 8 * UInt64(bytes.count), "\(factor)")
        }
        let drawn = (0..<4).map { _ in probes(bytes, factor: nil).factor }
        #expect(Set(drawn).count > 1)
        #expect(drawn.allSatisfy { $0 % 2 == 1 })
    }
}
