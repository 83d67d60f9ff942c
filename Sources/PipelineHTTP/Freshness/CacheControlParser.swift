extension CacheControl {
    /// Reads one line: `#( token [ "=" ( token / quoted-string ) ] )` (RFC 9111 section 5.2, RFC 9110 section 5.6).
    struct Parser {
        private let line: UnsafeBufferPointer<UInt8>
        private var position = 0

        init(_ line: UnsafeBufferPointer<UInt8>) { self.line = line }

        /// The next directive, or `nil` at the end of the line.
        mutating func next() -> Directive? {
            while position < line.count {
                skip { $0 == UInt8(ascii: ",") || isSpace($0) }
                let name = take(isToken)
                guard !name.isEmpty else {
                    skipElement()
                    continue
                }
                return Directive(name: name.lowercased(), argument: argument())
            }
            return nil
        }

        private mutating func argument() -> Argument {
            var argument = Argument.none
            if current == UInt8(ascii: "=") {
                position += 1
                argument = current == UInt8(ascii: "\"") ? quotedString() : token()
            }
            // Invalid: white space before "=", an unquoted list, or anything else outside the grammar.
            return skipElement() ? argument : .invalid
        }

        private mutating func token() -> Argument {
            let text = take(isToken)
            return text.isEmpty ? .invalid : .value(text)
        }

        private mutating func quotedString() -> Argument {
            var text: [UInt8] = []
            position += 1
            while let byte = current {
                position += 1
                if byte == UInt8(ascii: "\"") { return .value(String(decoding: text, as: UTF8.self)) }
                if byte == UInt8(ascii: "\\"), let escaped = current {
                    text.append(escaped)
                    position += 1
                } else {
                    text.append(byte)
                }
            }
            return .invalid
        }

        /// Moves to the next comma that is not in quotes; returns whether there was only white space before it.
        @discardableResult
        private mutating func skipElement() -> Bool {
            skip(isSpace)
            let isClean = current == nil || current == UInt8(ascii: ",")
            while let byte = current, byte != UInt8(ascii: ",") {
                if byte == UInt8(ascii: "\"") { _ = quotedString() } else { position += 1 }
            }
            return isClean
        }

        private var current: UInt8? { position < line.count ? line[position] : nil }

        private mutating func skip(_ matches: (UInt8) -> Bool) {
            while let byte = current, matches(byte) { position += 1 }
        }

        private mutating func take(_ matches: (UInt8) -> Bool) -> String {
            let start = position
            skip(matches)
            return String(decoding: line[start..<position], as: UTF8.self)
        }
    }
}

/// Whether a byte is optional white space (RFC 9110 section 5.6.3).
func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

/// Whether a token may contain a byte (RFC 9110 section 5.6.2).
func isToken(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"):
        true
    default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
    }
}
