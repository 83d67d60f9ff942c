/// Content that says in every part of itself what it is: of which address, in which version, and how long.
struct DescribedContent {
    /// A host and the last part of a path.
    let label: String
    let version: Int

    /// A version has one length, so that a part of it can be sent later.
    var count: Int { 120 + version &* 37 % 3001 }

    var bytes: [UInt8] { Self.bytes(label, version, count) }

    var tag: String { "\"\(version)\"" }

    /// What is wrong with bytes that were delivered or stored for an address; `nil` if nothing is.
    static func problem(_ bytes: [UInt8], _ label: String) -> String? {
        let words = bytes.prefix { $0 != UInt8(ascii: "]") }.dropFirst().split(separator: UInt8(ascii: " "))
        let start = String(decoding: bytes.prefix(60), as: UTF8.self)
        guard words.count == 3, let version = Int(String(decoding: words[1], as: UTF8.self)) else {
            return "\(label) is \"\(start)\""
        }
        let whole = Self.bytes(label, version, DescribedContent(label: label, version: version).count)
        guard bytes == whole else { return "\(label) has \(bytes.count) bytes that begin with \"\(start)\"" }
        return nil
    }

    private static func bytes(_ label: String, _ version: Int, _ count: Int) -> [UInt8] {
        let unit = Array("[\(label) \(version) \(count)]".utf8)
        return (0..<count).map { unit[$0 % unit.count] }
    }
}
