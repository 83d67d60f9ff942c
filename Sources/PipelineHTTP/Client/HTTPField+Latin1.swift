package import HTTPTypes

extension HTTPField {
    /// The value with each byte as the code point of the same number (ISO-8859-1). Different values give different
    /// texts, which isn't so for UTF-8.
    package var latin1: String { withUnsafeBytesOfValue { Self.latin1($0) } }

    /// Makes a field of a value whose code points are its bytes; `nil` if one is above 255, or a control character that
    /// would break the field apart (RFC 9110 section 5.5).
    package init?(name: Name, latin1 value: String) {
        var bytes: [UInt8] = []
        for scalar in value.unicodeScalars {
            guard let byte = UInt8(exactly: scalar.value), byte >= 0x20 && byte != 0x7f || byte == 0x09 else {
                return nil
            }
            bytes.append(byte)
        }
        self.init(name: name, lenientValue: bytes)
    }

    private static func latin1(_ bytes: UnsafeBufferPointer<UInt8>) -> String {
        var text = String.UnicodeScalarView()
        for byte in bytes { text.append(Unicode.Scalar(byte)) }
        return String(text)
    }
}

extension HTTPFields {
    /// The lines of a field, each byte as a code point.
    func latin1(_ name: HTTPField.Name) -> [String] { self[fields: name].map(\.latin1) }
}
