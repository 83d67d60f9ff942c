package import HTTPTypes

/// The fields of a response that are stored (RFC 9111 sections 3.1 and 3.2).
package enum StorableFields {
    /// A response's fields without those of the connection and those that `no-cache` or, in a shared cache, `private`
    /// names.
    static func of(_ headers: HTTPFields, isShared: Bool = false) -> HTTPFields {
        let control = CacheControl(response: headers, isShared: isShared)
        var dropped = connectionFields
        for field in headers where field.name == .connection {
            dropped.formUnion(field.value.split { $0 == "," || $0 == " " || $0 == "\t" }.map { $0.lowercased() })
        }
        dropped.formUnion(control.fieldNames("no-cache"))
        if isShared { dropped.formUnion(control.fieldNames("private")) }
        return headers.filtered { !dropped.contains($0.name.canonicalName) }
    }

    /// A stored response's fields after a 304, or after a HEAD that is about the same representation: each field of the
    /// update replaces all fields of its name, except those that describe the stored content.
    package static func updating(_ stored: HTTPFields, with update: HTTPFields, isShared: Bool = false) -> HTTPFields {
        let new = of(update, isShared: isShared).filtered { !contentFields.contains($0.name.canonicalName) }
        // The age starts over: a Date or an Age of the first response would make the confirmed one old at once.
        let replaced = Set(new.map(\.name.canonicalName)).union(["age", "date"])
        var result = stored.filtered { !replaced.contains($0.name.canonicalName) }
        result.append(contentsOf: new)
        // The update may say no-cache="name" about a field of the first response.
        return of(result, isShared: isShared)
    }

    private static let connectionFields: Set<String> = [
        "connection", "keep-alive", "proxy-authenticate", "proxy-authentication-info", "proxy-authorization",
        "proxy-connection", "te", "transfer-encoding", "upgrade",
    ]

    /// Section 3.2: these describe the stored bytes, so a 304 that says otherwise is wrong.
    private static let contentFields: Set<String> = [
        "content-encoding", "content-length", "content-range", "content-type",
    ]
}

extension HTTPFields {
    /// Returns the fields that fulfil a condition, in their order.
    func filtered(_ isKept: (HTTPField) -> Bool) -> HTTPFields {
        var result = HTTPFields()
        for field in self where isKept(field) { result.append(field) }
        return result
    }
}
