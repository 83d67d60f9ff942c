import HTTPTypes

/// Header fields as they are stored in a row: in order, with their names' case and their values' exact bytes.
enum StoredFields {
    static func encode(_ fields: HTTPFields) -> [UInt8] {
        var writer = ByteWriter()
        for field in fields {
            writer.append(counted: field.name.rawName.utf8)
            field.withUnsafeBytesOfValue { writer.append(counted: $0) }
        }
        return writer.bytes
    }

    /// Decodes the output of ``encode(_:)``; `nil` if the bytes are malformed.
    static func decode(_ bytes: [UInt8]) -> HTTPFields? {
        var reader = ByteReader(bytes)
        var fields = HTTPFields()
        while !reader.isAtEnd {
            // HTTPFields traps on more than this.
            guard fields.count < 60_000, let rawName = reader.run(), let value = reader.run(),
                let name = HTTPField.Name(String(decoding: rawName, as: UTF8.self))
            else { return nil }
            fields.append(HTTPField(name: name, lenientValue: value))
        }
        return fields
    }
}
