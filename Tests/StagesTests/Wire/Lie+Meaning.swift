import TestFixtures

/// Lies of the head, of what a response means, and of the connection.
extension Lie {
    func tellOfHead(_ exchange: inout LyingExchange) {
        let content = exchange.content
        let length = "Content-Length: \(content.count)\r\n"
        switch self {
        case .manyInterim:
            let interim = "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\nContent-Length: 7\r\nX-Label: evil\r\n\r\n"
            exchange.send(
                Array(String(repeating: interim, count: 1 + exchange.chance(600)).utf8) + exchange.head()
                    + content.bytes)
        case .switchedProtocols:
            exchange.send(
                Array("HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\n\r\n".utf8) + exchange.head() + content.bytes
            )
        case .hugeField:
            exchange.send(exchange.head("X: \(String(repeating: "x", count: 300_000))\r\n" + length) + content.bytes)
        case .manyFields:
            exchange.send(exchange.head((0..<3000).map { "X-\($0): y\r\n" }.joined() + length) + content.bytes)
        case .longHead:
            let value = String(repeating: "z", count: 1000)
            exchange.send(exchange.head((0..<300).map { "X-\($0): \(value)\r\n" }.joined() + length) + content.bytes)
        case .zeroInField: exchange.send(exchange.head("X-Zero: a\0b\r\n" + length) + content.bytes)
        case .foldedField: exchange.send(exchange.head("X-Folded: a\r\n b\r\n\t\(length)" + length) + content.bytes)
        case .lineFeeds:
            let head = exchange.head().filter { $0 != UInt8(ascii: "\r") }
            exchange.send(head + content.bytes)
        case .noHead:
            exchange.send(content.bytes)
            exchange.connection.stop()
        case .badStatus:
            let lines = [
                "HTTP/1.1 abc OK", "HTTP/9.9 200 OK", "ICY 200 OK", "HTTP/1.1 99 Low", "HTTP/1.1 200000 OK", "\0",
            ]
            exchange.send(Array("\(lines[exchange.chance(lines.count)])\r\n\(length)\r\n".utf8) + content.bytes)
            exchange.connection.stop()
        default:
            exchange.send(Array("HTTP/1.0 200 OK\r\n\(exchange.fields())\r\n".utf8) + content.bytes)
            exchange.connection.stop()
        }
    }

    func tellOfMeaning(_ exchange: inout LyingExchange) {
        let content = exchange.content
        func redirect(_ location: String) -> [UInt8] {
            Array(
                "HTTP/1.1 301 Moved\r\nCache-Control: max-age=1\r\nLocation: \(location)\r\nContent-Length: 0\r\n\r\n"
                    .utf8)
        }
        let last = content.label.split(separator: "/").last ?? ""
        switch self {
        case .falseGzip:
            exchange.send(
                exchange.head("Content-Encoding: gzip\r\nContent-Length: \(content.count)\r\n") + content.bytes)
        case .unasked206:
            let range = exchange.range(content.count / 2, content)
            exchange.send(exchange.head("206 Partial Content", range) + content.bytes[(content.count / 2)...])
        case .unasked304: exchange.send(exchange.head("304 Not Modified", ""))
        case .foreign304: exchange.send(exchange.head("304 Not Modified", "Content-Length: 70\r\n"))
        case .foreignPart:
            guard let first = exchange.rangeStart, first < content.count else {
                // Breaks off, so that the rest is asked for.
                exchange.send(exchange.head() + content.bytes.prefix(content.count / 2))
                return exchange.connection.stop()
            }
            // Without a validator, or with its own.
            let fields = exchange.chance(2) == 0 ? "" : exchange.fields()
            exchange.send(
                Array("HTTP/1.1 206 Partial Content\r\n\(fields)\(exchange.range(first, content))\r\n".utf8)
                    + content.bytes[first...])
        case .unsatisfiable:
            exchange.send(
                exchange.head("416 Range Not Satisfiable", "Content-Range: bytes */3\r\nContent-Length: 0\r\n"))
        case .redirectLoop: exchange.send(redirect("/hop/\(last)"))
        case .longRedirects: exchange.send(redirect("hop\(exchange.chance(1000))/\(last)"))
        default:
            let nowhere = ["http://[", "/%zz", "ftp://a/b", "", "http:///x", "http://\u{1}/", "//", "javascript:1"]
            exchange.send(redirect(nowhere[exchange.chance(nowhere.count)]))
        }
    }

    func tellOfConnection(_ exchange: inout LyingExchange) {
        let (connection, content) = (exchange.connection, exchange.content)
        switch self {
        case .resetBeforeHead: connection.reset()
        case .resetInHead:
            exchange.send(exchange.head().dropLast(12))
            connection.reset()
        case .resetInBody:
            exchange.send(exchange.head() + content.bytes.dropLast(20))
            connection.waitUntilDelivered()
            connection.reset()
        case .closedBeforeHead: connection.stop()
        case .closedInHead:
            exchange.send(exchange.head().dropLast(12))
            connection.stop()
        case .closedInBody:
            exchange.send(exchange.head() + content.bytes.dropLast(20))
            connection.stop()
        case .singleBytes: for byte in exchange.head() + content.bytes { exchange.send([byte]) }
        case .dribble:
            exchange.send(exchange.head())
            for byte in content.bytes.prefix(30) {
                exchange.send([byte])
                connection.wait(milliseconds: 20)
            }
        case .silence: break
        case .silenceInBody: exchange.send(exchange.head() + content.bytes.prefix(50))
        case .endless:
            exchange.send(exchange.head(""))
            while connection.send(content.bytes) {}
        default:
            exchange.send(exchange.head() + content.bytes)
            connection.stop()
        }
    }
}
