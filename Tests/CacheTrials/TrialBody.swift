import PipelineTesting

/// A body that says what it is, so that who reads it can tell whether every byte is right.
struct TrialBody {
    let name: String
    let version: Int
    let bytes: [UInt8]

    /// The body of a version: of a length that differs from one to the next, some in the database and some files.
    init(_ name: String, version: Int) {
        var random = SeededGenerator(seed: UInt64(truncatingIfNeeded: version))
        let length = [60, 3000, 20_000, 60_000, 90_000, 250_000].randomElement(using: &random) ?? 60
        self.init(
            name, version: version, length: length, from: Int.random(in: 0..<Self.noise.count / 2, using: &random))
    }

    /// What was read; `nil` if it is not, byte for byte, what was stored under some version.
    init?(read bytes: [UInt8]) {
        let header = bytes.prefix { $0 != UInt8(ascii: "\n") }
        let words = String(decoding: header, as: UTF8.self).split(separator: " ")
        guard words.count == 2, let version = Int(words[1]) else { return nil }
        let whole = TrialBody(String(words[0]), version: version)
        guard whole.bytes == bytes else { return nil }
        self = whole
    }

    private init(_ name: String, version: Int, length: Int, from start: Int) {
        self.name = name
        self.version = version
        let header = Array("\(name) \(version)\n".utf8)
        bytes = header + Self.noise[start..<start + length - header.count]
    }

    private static let noise: [UInt8] = {
        var random = SeededGenerator(seed: 1)
        return (0..<1 << 17).flatMap { _ in withUnsafeBytes(of: random.next()) { Array($0) } }
    }()
}
