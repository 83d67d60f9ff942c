import Essentials

/// A `data:` URL taken apart (RFC 2397).
package struct DataURL {
    /// The bytes and their declared type.
    package let image: EncodedImage

    /// - Throws: `LoadError` with `invalidURL`, naming what is wrong.
    package init(_ text: String) throws(LoadError) {
        let subject = ImageSource.dataURL(text).redacted
        func broken(_ what: String) -> LoadError { LoadError(.invalidURL, subject: subject, what) }

        let bytes = text.utf8
        guard let comma = bytes.firstIndex(of: UInt8(ascii: ",")) else {
            throw broken("A data URL needs a comma between its type and its data.")
        }
        let head = text[..<comma].dropFirst("data:".count)
        guard let data = Self.percentDecoded(text[text.index(after: comma)...].utf8) else {
            throw broken("The data URL has a % without two hexadecimal digits.")
        }
        let parts = head.split(separator: ";", omittingEmptySubsequences: false)
        let type = parts.first.map { $0.lowercased() }.flatMap { $0.isEmpty ? nil : $0 }
        guard parts.dropFirst().last?.lowercased() == "base64" else {
            image = EncodedImage(bytes: data, declaredType: type)
            return
        }
        guard let decoded = Data(base64Encoded: Self.padded(data), options: .ignoreUnknownCharacters) else {
            throw broken("The data URL says base64, and its data is not.")
        }
        image = EncodedImage(bytes: [UInt8](decoded), declaredType: type)
    }

    /// Browsers accept base64 without its padding, and so does everything that copies from them.
    private static func padded(_ bytes: [UInt8]) -> Data {
        let core = bytes.filter { $0 != UInt8(ascii: "=") && $0 > 0x20 }
        return Data(core + [UInt8](repeating: UInt8(ascii: "="), count: (4 - core.count % 4) % 4))
    }

    private static func percentDecoded(_ text: some Collection<UInt8>) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count)
        var rest = text.makeIterator()
        while let byte = rest.next() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.next()?.hexadecimalValue, let low = rest.next()?.hexadecimalValue else { return nil }
            bytes.append(high << 4 | low)
        }
        return bytes
    }
}

extension UInt8 {
    fileprivate var hexadecimalValue: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
