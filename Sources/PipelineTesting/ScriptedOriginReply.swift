public import HTTPTypes

extension ScriptedOrigin {
    /// A reply of the origin: a correct response, or one that is wrong in a chosen way.
    ///
    /// ```swift
    /// .init(status: 404)
    /// .init(headers: [.cacheControl: "max-age=60"], body: photograph).held(until: gate)
    /// .chunked([part, part]).cut(after: 100)
    /// .endless(chunk)
    /// .raw("HTTP/1.1 200 OK\r\nContent-Length: 1,2\r\n\r\n")
    /// ```
    public struct Reply: Sendable {
        enum Interruption: Sendable {
            case hold(Gate)
            case stall
            case cut
        }

        var head: [UInt8]
        var content: [UInt8]
        /// Whether the content repeats when it ends.
        var repeats = false
        /// Whether the connection is closed after the reply.
        var closes = false
        /// The interruptions, by the number of bytes of content sent before them; -1 is before the head.
        var interruptions: [(after: Int, Interruption)] = []

        /// A response with a status line, fields and content.
        ///
        /// `Content-Length` is added unless the fields have one or a `Transfer-Encoding`, or the status has no content.
        public init(
            status: Int = 200, reason: String = "", headers: HTTPFields = [:], body: some Sequence<UInt8> = []
        ) {
            content = Array(body)
            var headers = headers
            let hasContent = status >= 200 && status != 204 && status != 304
            if hasContent && headers[.contentLength] == nil && headers[.transferEncoding] == nil {
                headers[.contentLength] = "\(content.count)"
            }
            head = Self.head(status: status, reason: reason, headers: headers)
        }

        /// A response whose content is a text in UTF-8.
        public init(status: Int = 200, reason: String = "", headers: HTTPFields = [:], body: String) {
            self.init(status: status, reason: reason, headers: headers, body: Array(body.utf8))
        }

        /// These bytes and nothing else; then the connection is closed.
        public static func raw(_ bytes: [UInt8]) -> Reply {
            var reply = Reply()
            reply.head = []
            reply.content = bytes
            reply.closes = true
            return reply
        }

        /// This text and nothing else; then the connection is closed.
        public static func raw(_ text: String) -> Reply { raw(Array(text.utf8)) }

        /// A response in chunks (RFC 9112 section 7.1), which declares no length.
        public static func chunked(status: Int = 200, headers: HTTPFields = [:], _ chunks: [[UInt8]]) -> Reply {
            var headers = headers
            headers[.transferEncoding] = "chunked"
            var wire: [UInt8] = []
            for chunk in chunks where !chunk.isEmpty {
                wire += Array("\(String(chunk.count, radix: 16))\r\n".utf8) + chunk + Array("\r\n".utf8)
            }
            return Reply(status: status, headers: headers, body: wire + Array("0\r\n\r\n".utf8))
        }

        /// A response without a length whose content repeats this chunk and never ends.
        public static func endless(headers: HTTPFields = [:], _ chunk: [UInt8]) -> Reply {
            var reply = Reply(body: chunk)
            reply.head = head(status: 200, reason: "", headers: headers)
            reply.repeats = true
            reply.closes = true
            return reply
        }

        /// A redirect (RFC 9110 section 15.4).
        public static func redirect(to location: String, status: Int = 302) -> Reply {
            Reply(status: status, headers: [.location: location])
        }

        /// A response with this many fields, each with a value of this many bytes.
        package static func headerBomb(fields: Int, valueBytes: Int = 10) -> Reply {
            let value = String(repeating: "x", count: valueBytes)
            var head = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n"
            for index in 0..<fields { head += "X-\(index): \(value)\r\n" }
            var reply = Reply()
            reply.head = Array((head + "\r\n").utf8)
            return reply
        }

        /// The same reply with an interim response before it, such as 103 with `Link` fields (RFC 8297).
        package func interim(_ status: Int, headers: HTTPFields = [:]) -> Reply {
            var reply = self
            reply.head = Self.head(status: status, reason: "", headers: headers) + head
            return reply
        }

        /// The same reply, but nothing is sent before the gate opens.
        public func held(until gate: Gate) -> Reply { interrupted(after: -1, .hold(gate)) }

        /// The same reply, but only `count` bytes of content are sent before the gate opens; with 0 only the head.
        public func held(until gate: Gate, after count: Int) -> Reply { interrupted(after: count, .hold(gate)) }

        /// The same reply, but nothing follows the first `count` bytes of content. The connection stays open.
        public func stalled(after count: Int = 0) -> Reply { interrupted(after: count, .stall) }

        /// The same reply, but the connection is closed after `count` bytes of content. Chunk sizes count.
        public func cut(after count: Int) -> Reply { interrupted(after: count, .cut) }

        /// The same reply, but the connection is closed afterwards, unannounced.
        package func closing() -> Reply {
            var reply = self
            reply.closes = true
            return reply
        }

        private func interrupted(after count: Int, _ interruption: Interruption) -> Reply {
            var reply = self
            reply.interruptions.append((count, interruption))
            // Stable, so that interruptions at the same place keep their order.
            let sorted = reply.interruptions.enumerated().sorted {
                ($0.element.after, $0.offset) < ($1.element.after, $1.offset)
            }
            reply.interruptions = sorted.map(\.element)
            return reply
        }

        private static func head(status: Int, reason: String, headers: HTTPFields) -> [UInt8] {
            var head = Array("HTTP/1.1 \(status) \(reason)\r\n".utf8)
            for field in headers {
                head += Array("\(field.name.rawName): ".utf8)
                field.withUnsafeBytesOfValue { head += Array($0) }
                head += Array("\r\n".utf8)
            }
            return head + Array("\r\n".utf8)
        }
    }
}
