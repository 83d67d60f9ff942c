import Essentials
import Pipeline

extension StoredRedirects {
    /// The redirects as they are stored in a row.
    var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.append(until.microseconds)
        for target in targets { writer.append(counted: target.utf8) }
        return writer.bytes
    }

    /// Decodes ``encoded``; `nil` if the bytes are malformed.
    init?(encoded bytes: [UInt8]) {
        var reader = ByteReader(bytes)
        guard let until = reader.number(Int64.self) else { return nil }
        var targets: [String] = []
        while !reader.isAtEnd {
            guard let target = reader.run() else { return nil }
            targets.append(String(decoding: target, as: UTF8.self))
        }
        self.init(until: Date(microseconds: until), targets: targets)
    }
}
