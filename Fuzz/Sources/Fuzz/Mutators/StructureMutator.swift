/// Mutates a file along its structure: whole boxes, blocks, directory entries and profile tags. The result passes
/// checks that random bytes fail.
///
/// It is used for the targets that read images, alternating with libFuzzer's own mutations.
enum StructureMutator {
    /// Mutates the file in place. Returns false if it has no known structure.
    static func mutate(_ file: inout [UInt8], _ random: inout SeededNumbers) -> Bool {
        var mutations: [(inout [UInt8], inout SeededNumbers) -> Bool] = []
        if ISOBoxMutation.applies(to: file) { mutations.append(ISOBoxMutation.mutate) }
        if TIFFMutation.applies(to: file) { mutations.append(TIFFMutation.mutate) }
        if GIFMutation.applies(to: file) { mutations.append(GIFMutation.mutate) }
        if ICCMutation.profile(in: file) != nil { mutations.append(ICCMutation.mutate) }
        guard !mutations.isEmpty else { return false }
        return mutations[random.below(mutations.count)](&file, &random)
    }
}

/// Random numbers derived from libFuzzer's seed, so that a run can be repeated (SplitMix64).
struct SeededNumbers: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var bits = state
        bits = (bits ^ (bits >> 30)) &* 0xbf58_476d_1ce4_e5b9
        bits = (bits ^ (bits >> 27)) &* 0x94d0_49bb_1331_11eb
        return bits ^ (bits >> 31)
    }

    /// Returns a number from 0 up to, not including, `count`, which is at least 1.
    mutating func below(_ count: Int) -> Int { Int(next() % UInt64(count)) }

    /// Returns a number at which arithmetic or a limit may break.
    mutating func edge() -> UInt32 {
        let edges: [UInt32] = [
            0, 1, 2, 3, 4, 7, 8, 16, 255, 256, 1000, 4095, 4096, 32767, 32768, 65535, 65536, 0x00ff_ffff, 0x7fff_ffff,
            0x8000_0000, 0xffff_fffe, 0xffff_ffff,
        ]
        return below(4) == 0 ? UInt32(truncatingIfNeeded: next()) : edges[below(edges.count)]
    }
}

extension [UInt8] {
    /// Reads a big-endian or little-endian number; bytes past the end are 0.
    func number(at offset: Int, bytes: Int, littleEndian: Bool = false) -> Int {
        (0..<bytes).reduce(0) { sum, index in
            let place = offset + (littleEndian ? bytes - 1 - index : index)
            return sum << 8 | Int(indices.contains(place) ? self[place] : 0)
        }
    }

    /// Writes a number; bytes past the end are dropped.
    mutating func set(_ number: UInt32, at offset: Int, bytes: Int, littleEndian: Bool = false) {
        for index in 0..<bytes {
            let place = offset + (littleEndian ? index : bytes - 1 - index)
            if indices.contains(place) { self[place] = UInt8(truncatingIfNeeded: number >> (8 * index)) }
        }
    }
}
