/// The names of body files. A file under any other name is not the cache's, and is never touched.
enum BodyName {
    /// The suffix of a body that is still being written.
    static let unfinished = ".new"

    /// Makes a name that no other body has.
    static func random() -> String {
        let digits = (0..<2).map { _ in
            let half = String(UInt64.random(in: .min ... .max), radix: 16)
            return String(repeating: "0", count: 16 - half.count) + half
        }
        return prefix + digits.joined() + suffix
    }

    /// Returns whether a row's body may have this name. A manipulated row could name any path.
    static func isOwn(_ name: String) -> Bool { isCurrent(name) || isEarlier(name) }

    /// Returns whether a name is one that ``random()`` makes.
    static func isCurrent(_ name: String) -> Bool {
        guard name.hasPrefix(prefix), name.hasSuffix(suffix) else { return false }
        let digits = name.utf8.dropFirst(prefix.utf8.count).dropLast(suffix.utf8.count)
        return digits.count == 32 && digits.allSatisfy(isHexadecimal)
    }

    /// Returns whether a name is one that versions up to 0.1 made: two random numbers in base 36.
    static func isEarlier(_ name: String) -> Bool {
        (22...26).contains(name.utf8.count)
            && name.utf8.allSatisfy { isDigit($0) || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) }
    }

    /// Returns whether a name of an earlier version looks random, which words and hexadecimal numbers don't.
    static func looksRandom(_ name: String) -> Bool {
        name.utf8.contains(where: isDigit) && !name.utf8.allSatisfy(isHexadecimal)
    }

    private static let prefix = "response-"
    private static let suffix = ".body"

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    private static func isHexadecimal(_ byte: UInt8) -> Bool {
        isDigit(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
    }
}
