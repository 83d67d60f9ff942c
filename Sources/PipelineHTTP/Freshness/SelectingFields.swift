import HTTPTypes
import Pipeline

/// The fields of a request by which the origin chose a response: those that its `Vary` names (RFC 9111 section 4.1).
/// For a `private` response in a cache with several users, also all others that may identify the user.
///
/// A response that a cache of one user has stored serves only such caches, since neither its key nor its fields
/// distinguish users, and vice versa. So both kinds of caches can share a folder.
extension SelectingFields {
    /// The fields of `request` that select a response in a cache; `nil` if no request fits.
    init?(of response: HTTPFields, request: HTTPFields, users: HTTPCache.Users) {
        guard let varying = SelectingFields(vary: response, request: request) else { return nil }
        var fields = varying.fields
        if users.isOne {
            fields.insert(Field(name: Self.oneUser, value: nil), at: 0)
        } else if CacheControl(response).isUnqualified("private") {
            let others = PrivateFields.digest(of: request, except: Set(varying.fields.map(\.name)))
            fields.insert(Field(name: Self.others, value: others), at: 0)
        }
        self.init(fields: fields)
    }

    /// The fields of `request` that the response's `Vary` lines name; `nil` if they hold `*`, which no request fits.
    init?(vary response: HTTPFields, request: HTTPFields) {
        let names = response[values: .vary].flatMap { $0.split(separator: ",") }
            .map { $0.trimmingSpaces.lowercased() }
        guard !names.contains("*") else { return nil }
        self.init(
            fields: Set(names).filter { !$0.isEmpty && $0 != Self.others && $0 != Self.oneUser }.sorted().map {
                Field(name: $0, value: Self.value($0, request))
            })
    }

    /// Whether a request of these users has the same values.
    func match(_ request: HTTPFields, of users: HTTPCache.Users) -> Bool {
        guard users.isOne == (fields.first?.name == Self.oneUser) else { return false }
        return fields.allSatisfy { field in
            switch field.name {
            case Self.oneUser: true
            case Self.others: field.value == PrivateFields.digest(of: request, except: Set(fields.map(\.name)))
            default: field.value == Self.value(field.name, request)
            }
        }
    }

    // No field can have these names.
    /// Stands for all fields that the list doesn't name.
    private static let others = ":private"
    /// Marks the response of a cache of one user. It comes first.
    private static let oneUser = ":one"

    private static func value(_ name: String, _ request: HTTPFields) -> [UInt8]? {
        guard let fieldName = HTTPField.Name(name) else { return nil }
        let lines = request[fields: fieldName].map { $0.withUnsafeBytesOfValue { Array($0) } }
        guard !lines.isEmpty else { return nil }
        let value = FieldNormaliser.normalise(lines, of: name)
        return CredentialFields.standard.contains(fieldName) ? BLAKE2bDigest(of: value).bytes : value
    }
}

extension SelectingFields {
    /// The fields as they are stored in a row.
    var encoded: [UInt8] {
        var writer = ByteWriter()
        for field in fields {
            writer.append(counted: field.name.utf8)
            writer.append(UInt8(field.value == nil ? 0 : 1))
            if let value = field.value { writer.append(counted: value) }
        }
        return writer.bytes
    }

    /// Decodes ``encoded``; `nil` if the bytes are malformed.
    init?(encoded bytes: [UInt8]) {
        var reader = ByteReader(bytes)
        var fields: [Field] = []
        while !reader.isAtEnd {
            guard let name = reader.run(), let hasValue = reader.number(UInt8.self) else { return nil }
            var value: [UInt8]?
            if hasValue == 1 {
                guard let run = reader.run() else { return nil }
                value = Array(run)
            }
            fields.append(Field(name: String(decoding: name, as: UTF8.self), value: value))
        }
        self.init(fields: fields)
    }
}

extension Substring {
    fileprivate var trimmingSpaces: Substring {
        let isSpace: (Character) -> Bool = { $0 == " " || $0 == "\t" }
        guard let end = lastIndex(where: { !isSpace($0) }) else { return "" }
        return self[...end].drop(while: isSpace)
    }
}
