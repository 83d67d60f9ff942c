/// Zeros, packed by the best that gzip can do, to a hundred-and-sixtieth.
func gzipOfZeros(megabytes: Int) -> [UInt8] {
    // A fixed-Huffman block: one literal 0, then matches of 258 at distance 1 (RFC 1951 section 3.2.6).
    var bits: [UInt8] = []
    func put(_ value: Int, _ count: Int, reversed: Bool = false) {
        for index in 0..<count { bits.append(UInt8(value >> (reversed ? count - 1 - index : index) & 1)) }
    }
    put(1, 1)
    put(1, 2)
    put(0x30, 8, reversed: true)
    let matches = megabytes * 1_000_000 / 258
    for _ in 0..<matches {
        put(0xc5, 8, reversed: true)
        put(0, 5, reversed: true)
    }
    put(0, 7)
    var bytes: [UInt8] = [31, 139, 8, 0, 0, 0, 0, 0, 2, 255]
    var index = 0
    while index < bits.count {
        var byte: UInt8 = 0
        for bit in 0..<min(8, bits.count - index) { byte |= bits[index + bit] << bit }
        bytes.append(byte)
        index += 8
    }
    // The check sum is wrong and never reached.
    return bytes + [UInt8](repeating: 0, count: 8)
}
