/// Damages files, the same way for the same seed.
struct Mutation: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    /// SplitMix64.
    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var z = state
        z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
        return z ^ (z >> 31)
    }

    /// Returns a damaged copy of `bytes`, possibly with some bytes of another file.
    mutating func damaged(_ bytes: [UInt8], _ other: [UInt8]) -> [UInt8] {
        var bytes = bytes
        for _ in 0..<number(1...3) where !bytes.isEmpty {
            switch number(0...6) {
            case 0: bytes.removeLast(number(0...bytes.count - 1))
            case 1: for _ in 0..<number(1...16) { bytes[place(bytes)] = UInt8.random(in: 0...255, using: &self) }
            case 2: bytes[place(bytes)] ^= 1 << UInt8.random(in: 0...7, using: &self)
            case 3: overwrite(&bytes, with: Array(repeating: number(0...1) == 0 ? 0 : 255, count: number(1...8)))
            case 4:
                let start = place(bytes)
                bytes.removeSubrange(start..<min(bytes.count, start + number(1...64)))
            case 5:
                guard !other.isEmpty else { continue }
                let start = place(other)
                let piece = other[start..<min(other.count, start + number(1...4096))]
                bytes.insert(contentsOf: piece, at: place(bytes))
            default:
                // Sizes are near the start: writes large ones, in either byte order.
                let large: [[UInt8]] = [
                    [0x7f, 0xff, 0xff, 0xff], [0, 0, 0xff, 0xff], [0xff, 0xff, 0, 0], [0x40, 0, 0, 0],
                ]
                overwrite(&bytes, with: large[number(0...3)], near: 200)
            }
        }
        return bytes
    }

    private mutating func overwrite(_ bytes: inout [UInt8], with piece: [UInt8], near end: Int = .max) {
        let start = Int.random(in: 0..<min(end, bytes.count), using: &self)
        for (offset, byte) in piece.enumerated() where start + offset < bytes.count { bytes[start + offset] = byte }
    }

    /// Returns a random place. Half of them are in the first kilobyte, where headers are.
    private mutating func place(_ bytes: [UInt8]) -> Int {
        number(0...1) == 0 ? number(0...bytes.count - 1) : number(0...min(1023, bytes.count - 1))
    }

    private mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &self) }
}
