/// Paths as text.
///
/// A file name on Linux is bytes, which need not be UTF-8. A byte that is not part of UTF-8 is written as the private
/// character U+10FF00 plus the byte, and so are the bytes of these characters themselves. So every path has its own
/// text, from which its bytes can be read back.
extension String {
    private static let escapes: ClosedRange<UInt32> = 0x10FF80...0x10FFFF

    /// Reads a path's bytes.
    package init(path bytes: some Collection<UInt8>) {
        if let text = String(validating: bytes, as: UTF8.self), !text.hasPathEscapes {
            self = text
            return
        }
        var scalars = String.UnicodeScalarView()
        var parser = UTF8.ForwardParser()
        var input = bytes.makeIterator()
        var rest = bytes[...]
        func escape(_ count: Int) {
            for byte in rest.prefix(count) { scalars.append(Unicode.Scalar(0x10FF00 | UInt32(byte)) ?? "\u{FFFD}") }
            rest = rest.dropFirst(count)
        }
        parsing: while true {
            switch parser.parseScalar(from: &input) {
            case .emptyInput: break parsing
            case .error(let length): escape(length)
            case .valid(let encoded):
                let scalar = UTF8.decode(encoded)
                if Self.escapes.contains(scalar.value) {
                    escape(encoded.count)
                } else {
                    scalars.append(scalar)
                    rest = rest.dropFirst(encoded.count)
                }
            }
        }
        self = String(scalars)
    }

    /// Reads a path that ends with a zero byte.
    package init(path pointer: UnsafePointer<CChar>) {
        let bytes = UnsafeRawPointer(pointer)
        var count = 0
        while pointer[count] != 0 { count += 1 }
        self.init(path: UnsafeRawBufferPointer(start: bytes, count: count))
    }

    /// Whether the path has bytes that are not UTF-8.
    package var hasPathEscapes: Bool {
        // Only these characters and their neighbours begin with this byte.
        utf8.contains(0xF4) && unicodeScalars.contains { Self.escapes.contains($0.value) }
    }

    /// The path's bytes.
    package var pathBytes: [UInt8] {
        guard hasPathEscapes else { return Array(utf8) }
        return unicodeScalars.flatMap { scalar in
            Self.escapes.contains(scalar.value) ? [UInt8(scalar.value & 0xFF)] : Array(String(scalar).utf8)
        }
    }

    /// Runs `body` with the path as the system takes it, ended by a zero byte.
    package func withPath<Result>(_ body: (UnsafePointer<CChar>) throws -> Result) rethrows -> Result {
        guard hasPathEscapes else { return try withCString(body) }
        return try (pathBytes.map { CChar(bitPattern: $0) } + [0]).withUnsafeBufferPointer { buffer in
            // The buffer is never empty: it holds at least the zero byte.
            guard let start = buffer.baseAddress else { return try "".withCString(body) }
            return try body(start)
        }
    }
}
