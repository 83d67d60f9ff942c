/// Mutates tags of an ICC profile (ICC.1 section 7): their names, offsets, sizes and types. Compressed profiles, as in
/// PNG, aren't found.
enum ICCMutation {
    private static let tags = [
        "rXYZ", "gXYZ", "bXYZ", "rTRC", "gTRC", "bTRC", "kTRC", "wtpt", "chad", "A2B0", "A2B1", "B2A0", "D2B0", "B2D0",
        "gamt", "desc", "cprt",
    ]
    private static let types = [
        "curv", "para", "XYZ ", "sf32", "mft1", "mft2", "mAB ", "mBA ", "mpet", "desc", "mluc", "text", "clut", "cvst",
        "matf",
    ]

    /// Returns the start of a profile, 36 bytes before its signature.
    static func profile(in file: [UInt8]) -> Int? {
        let signature = Array("acsp".utf8)
        guard file.count > 144 else { return nil }
        return (36..<file.count - 108).first { file[$0] == signature[0] && Array(file[$0..<$0 + 4]) == signature }
            .map { $0 - 36 }
    }

    static func mutate(_ file: inout [UInt8], _ random: inout SeededNumbers) -> Bool {
        guard let start = profile(in: file) else { return false }
        let count = min(file.number(at: start + 128, bytes: 4), (file.count - start - 132) / 12)
        guard count > 0 else { return false }
        let entry = start + 132 + 12 * random.below(count)
        let data = start + file.number(at: entry + 4, bytes: 4)
        func write(_ text: String, at offset: Int) {
            for (index, byte) in text.utf8.enumerated() where file.indices.contains(offset + index) {
                file[offset + index] = byte
            }
        }
        switch random.below(7) {
        case 0: write(tags[random.below(tags.count)], at: entry)
        case 1: write(types[random.below(types.count)], at: data)
        case 2: file.set(random.edge(), at: data + 8 + random.below(24), bytes: [1, 2, 4][random.below(3)])
        case 3: file.set(random.edge(), at: entry + 4, bytes: 4)
        case 4: file.set(random.edge(), at: entry + 8, bytes: 4)
        case 5: file.set(random.edge(), at: start + 128, bytes: 4)
        default: write(["RGB ", "GRAY", "CMYK", "Lab ", "XYZ "][random.below(5)], at: start + 16 + 4 * random.below(2))
        }
        return true
    }
}
