public import HTTPTypes

extension ScriptedOrigin {
    /// A request as it arrived.
    public struct Request: Sendable {
        /// The method (RFC 9110 section 9).
        public let method: String
        /// The target as it stood in the request line (RFC 9112 section 3.2), query included.
        public let target: String
        /// The fields, in their order; values keep their bytes.
        public let headers: HTTPFields
        /// The content.
        public internal(set) var body: [UInt8] = []
        /// Which of the origin's connections it came on, counted from 1.
        package let connection: Int

        /// The target without its query.
        public var path: String { String(target.prefix { $0 != "?" }) }

        /// Reads a request line and fields; `nil` if the bytes are none.
        init?(head: ArraySlice<UInt8>, connection: Int) {
            let lines = head.split(separator: UInt8(ascii: "\n")).map { line in
                line.last == UInt8(ascii: "\r") ? line.dropLast() : line
            }
            guard let first = lines.first else { return nil }
            let words = String(decoding: first, as: UTF8.self).split(separator: " ")
            guard words.count == 3, words[2].hasPrefix("HTTP/1.") else { return nil }
            var headers = HTTPFields()
            for line in lines.dropFirst() where !line.isEmpty {
                guard let colon = line.firstIndex(of: UInt8(ascii: ":")),
                    let name = HTTPField.Name(String(decoding: line[..<colon], as: UTF8.self))
                else { return nil }
                let blank: (UInt8) -> Bool = { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
                var value = line[line.index(after: colon)...].drop(while: blank)
                while let last = value.last, blank(last) { value.removeLast() }
                headers.append(HTTPField(name: name, lenientValue: value))
            }
            method = String(words[0])
            target = String(words[1])
            self.headers = headers
            self.connection = connection
        }
    }
}
