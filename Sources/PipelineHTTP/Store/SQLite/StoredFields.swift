import HTTPTypes

/// Header fields as they are kept in a row: in their order, with their names' case and their values' very bytes.
enum StoredFields {
    static func encode(_ fields: HTTPFields) -> [UInt8] {
        var writer = ByteWriter()
        for field in fields {
            writer.append(counted: field.name.rawName.utf8)
            field.withUnsafeBytesOfValue { writer.append(counted: $0) }
        }
        return writer.bytes
    }

    /// The fields, or `nil` if the bytes are not what ``encode(_:)`` made.
    static func decode(_ bytes: [UInt8]) -> HTTPFields? {
        var reader = ByteReader(bytes)
        var fields = HTTPFields()
        while !reader.isAtEnd {
            // HTTPFields stops the program at more than this.
            guard fields.count < 60_000, let rawName = reader.run(), let value = reader.run(),
                let name = HTTPField.Name(String(decoding: rawName, as: UTF8.self))
            else { return nil }
            fields.append(HTTPField(name: name, lenientValue: value))
        }
        return fields
    }
}
