import HTTPTypes

/// Assembles the head of a response from the lines that libcurl passes: 1xx blocks, the final block, trailers.
struct CurlHeadReader {
    enum Progress {
        case more
        /// The block of the final response is complete.
        case complete
        case malformed(String)
    }

    /// How many fields all blocks together may have. Real responses have a few dozen.
    static let maximumFields = 1000
    /// How many bytes all blocks together may have.
    static let maximumBytes = 256 << 10
    /// How many characters of a reason phrase are kept.
    static let longestReason = 100

    private(set) var status = 0
    private(set) var reason = ""
    private(set) var headers = HTTPFields()
    /// The declared length of the content; `nil` if none is declared, or chunks override it (RFC 9112 section 6.3).
    private(set) var contentLength: Int?
    private(set) var interim: [TransferResponse.Interim] = []
    private(set) var isComplete = false
    private var fields = 0
    private var bytes = 0

    /// Reads one line, line break included.
    mutating func read(_ raw: UnsafeBufferPointer<UInt8>) -> Progress {
        bytes += raw.count
        guard bytes <= Self.maximumBytes else {
            return .malformed("its header is larger than \(Self.maximumBytes) bytes")
        }
        // Trailers (RFC 9110 section 6.5) may be dropped, and are not used here.
        guard !isComplete else { return .more }
        var line = UnsafeBufferPointer(rebasing: raw[...])
        while let last = line.last, last == UInt8(ascii: "\n") || last == UInt8(ascii: "\r") {
            line = UnsafeBufferPointer(rebasing: line.dropLast())
        }
        if line.isEmpty { return endBlock() }
        if line.starts(with: "HTTP/".utf8) { return readStatus(line) }
        return readField(line)
    }

    private mutating func readStatus(_ line: UnsafeBufferPointer<UInt8>) -> Progress {
        // A new status line begins a new response. The fields before it were an interim response's, or from a
        // connection that was given up.
        headers = HTTPFields()
        let words = line.split(separator: UInt8(ascii: " "), maxSplits: 2, omittingEmptySubsequences: false)
        guard words.count > 1 else { return .malformed("its status line is malformed") }
        let digits = words[1]
        guard digits.count == 3, digits.allSatisfy(isDigit), digits.first != UInt8(ascii: "0") else {
            return .malformed("its status line is malformed")
        }
        status = digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
        // It ends up on terminals and in logs, so only visible characters are kept.
        let phrase = words.count > 2 ? words[2].filter { 0x20...0x7E ~= $0 } : []
        reason = String(decoding: phrase.prefix(Self.longestReason), as: UTF8.self)
        return .more
    }

    private mutating func readField(_ line: UnsafeBufferPointer<UInt8>) -> Progress {
        fields += 1
        guard fields <= Self.maximumFields else {
            return .malformed("its header has more than \(Self.maximumFields) fields")
        }
        if isBlank(line[0]) {
            // A folded line continues where the one before ended (RFC 9112 section 5.2).
            guard var last = headers.last else { return .more }
            let value = last.withUnsafeBytesOfValue { Array($0) } + [UInt8(ascii: " ")] + trimmed(line[...])
            last = HTTPField(name: last.name, lenientValue: value)
            headers[headers.count - 1] = last
            return .more
        }
        // Lines that aren't fields are ignored, as in browsers. A name that is a token can't be a pseudo field's.
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")), let name = HTTPField.Name(text(line[..<colon]))
        else { return .more }
        let value = trimmed(line[(colon + 1)...])
        // Nearly all values are such; others are checked for being UTF-8, which takes much longer.
        if value.allSatisfy({ 0x20...0x7E ~= $0 }) {
            headers.append(HTTPField(name: name, value: text(value)))
        } else {
            headers.append(HTTPField(name: name, lenientValue: value))
        }
        return .more
    }

    /// A slice itself would be decoded byte by byte.
    private func text(_ bytes: Slice<UnsafeBufferPointer<UInt8>>) -> String {
        String(decoding: UnsafeBufferPointer(rebasing: bytes), as: UTF8.self)
    }

    private mutating func endBlock() -> Progress {
        guard status >= 200 else {
            interim.append(TransferResponse.Interim(status: status, headers: headers))
            return .more
        }
        isComplete = true
        // With a wrong length, the next response on this connection may not begin where it seems to (RFC 9110
        // section 8.6).
        return readLength() ? .complete : .malformed("its Content-Length is not a number")
    }

    /// Reads the declared lengths, one for each field and member of a list; returns false if they aren't one number.
    private mutating func readLength() -> Bool {
        guard !headers.contains(.transferEncoding) else { return true }
        return headers[fields: .contentLength].allSatisfy { field in
            field.withUnsafeBytesOfValue { bytes in
                bytes.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false).allSatisfy {
                    guard let length = number(trimmed($0)), contentLength ?? length == length else { return false }
                    contentLength = length
                    return true
                }
            }
        }
    }

    private func number(_ digits: Slice<UnsafeBufferPointer<UInt8>>) -> Int? {
        guard !digits.isEmpty, digits.count <= 18, digits.allSatisfy(isDigit) else { return nil }
        return digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
    }

    /// Removes the fields that describe the content before libcurl decompressed it.
    mutating func describeDecompressed() {
        guard headers[.contentEncoding] != nil else { return }
        headers[.contentEncoding] = nil
        headers[.contentLength] = nil
    }

    private func trimmed(_ bytes: Slice<UnsafeBufferPointer<UInt8>>) -> Slice<UnsafeBufferPointer<UInt8>> {
        var bytes = bytes.drop(while: isBlank)
        while let last = bytes.last, isBlank(last) { bytes.removeLast() }
        return bytes
    }

    private func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
    private func isDigit(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") }
}
