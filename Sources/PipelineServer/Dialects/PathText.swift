extension StringProtocol {
    /// The text with its percent-encoding undone (RFC 3986 section 2.1); `nil` if that is malformed, isn't UTF-8, or holds
    /// a control character.
    var percentDecoded: String? {
        var bytes: [UInt8] = []
        var rest = utf8.makeIterator()
        while let byte = rest.next() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.next().flatMap(\.hexValue), let low = rest.next().flatMap(\.hexValue) else {
                return nil
            }
            bytes.append(high << 4 | low)
        }
        guard !bytes.contains(where: { $0 < 0x20 || $0 == 0x7F }) else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }

    /// The text as one component of a path: every byte but letters, digits and `-._~` is percent-encoded.
    var percentEncoded: String {
        var text = ""
        for byte in utf8 {
            let scalar = Unicode.Scalar(byte)
            if scalar.properties.isASCIIHexDigit || (byte | 0x20 >= 0x61 && byte | 0x20 <= 0x7A)
                || "-._~".unicodeScalars.contains(scalar)
            {
                text.unicodeScalars.append(scalar)
            } else {
                text += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            }
        }
        return text
    }

    /// Decimal digits alone as a number: no sign, no spaces.
    var plainNumber: Int? { utf8.allSatisfy { $0 >= 0x30 && $0 <= 0x39 } ? Int(self) : nil }

    /// A number in its one spelling: digits without a zero before them.
    var canonicalNumber: Int? { plainNumber.flatMap { String($0) == self ? $0 : nil } }

    /// Decimal digits, perhaps with a fraction: no sign, no exponent.
    var plainDecimal: Double? {
        let isPlain = utf8.allSatisfy { $0 >= 0x30 && $0 <= 0x39 || $0 == UInt8(ascii: ".") }
        return isPlain ? Double(String(self)) : nil
    }

    /// The same as ``plainNumber``, perhaps with a minus sign.
    var signedNumber: Int? { hasPrefix("-") ? dropFirst().plainNumber.map { -$0 } : plainNumber }

    /// The same as ``plainDecimal``, perhaps with a minus sign.
    var signedDecimal: Double? { hasPrefix("-") ? dropFirst().plainDecimal.map { -$0 } : plainDecimal }
}

extension UInt8 {
    fileprivate var hexValue: UInt8? {
        Character(Unicode.Scalar(self)).hexDigitValue.flatMap { UInt8(exactly: $0) }
    }
}
