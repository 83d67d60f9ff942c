package import HTTPTypes

/// Which part of a stored response's content a request asks for (RFC 9110 section 14.2).
package enum ByteRange: Hashable {
    /// All of it: no range, one that can't be read, or one that no longer fits (`If-Range`).
    case whole
    /// These bytes.
    case part(Range<Int>)
    /// Bytes after its end.
    case unsatisfiable
    /// Several ranges, or another unit, which a cache need not support.
    case unknown

    /// Reads `Range` and `If-Range` against a stored response with this many bytes.
    package init(_ request: HTTPFields, of stored: HTTPFields, count: Int) {
        guard let text = request[.range] else {
            self = .whole
            return
        }
        self = Self.read(text, count)
        guard self != .unknown, let condition = request.latin1(.ifRange).first else { return }
        // Section 13.1.5: a tag has to be strong, a date identical.
        let tag = EntityTag(condition)
        let isSame =
            if let tag {
                stored.latin1(.eTag).first.flatMap { EntityTag($0) }?.stronglyMatches(tag) ?? false
            } else {
                stored[values: .lastModified].first == condition
            }
        if !isSame { self = .whole }
    }

    private static func read(_ text: String, _ count: Int) -> ByteRange {
        guard let equals = text.firstIndex(of: "="), text[..<equals].lowercased() == "bytes" else { return .unknown }
        let set = text[text.index(after: equals)...].filter { $0 != " " && $0 != "\t" }
        guard !set.contains(",") else { return .unknown }
        let ends = set.split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2 else { return .unknown }
        switch (deltaBytes(ends[0]), deltaBytes(ends[1])) {
        case (let first?, let last?) where first <= last:
            return first < count ? .part(first..<min(last + 1, count)) : .unsatisfiable
        case (let first?, nil) where ends[1].isEmpty:
            return first < count ? .part(first..<count) : .unsatisfiable
        case (nil, let suffix?) where ends[0].isEmpty:
            return suffix > 0 && count > 0 ? .part(max(0, count - suffix)..<count) : .unsatisfiable
        default: return .unknown
        }
    }

    private static func deltaBytes(_ text: Substring) -> Int? {
        guard !text.isEmpty, text.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }) else { return nil }
        return min(Int(text) ?? .max, .max - 1)
    }
}
