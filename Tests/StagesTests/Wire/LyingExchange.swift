import HTTPTypes
import PipelineTesting
import TestFixtures

/// A request to a ``LyingOrigin``, with what its response is made of.
struct LyingExchange {
    let request: RawRequest
    let connection: RawConnection
    let content: DescribedContent
    var random: SeededGenerator

    /// The content of another address, which no request for this one may get.
    var foreign: DescribedContent { DescribedContent(label: "evil/evil", version: content.version + 1) }

    /// A whole response, fresh for long.
    var forged: [UInt8] {
        Array("HTTP/1.1 200 OK\r\nCache-Control: max-age=9999\r\nContent-Length: \(foreign.count)\r\n\r\n".utf8)
            + foreign.bytes
    }

    mutating func chance(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }

    /// The fields of a response with this content.
    mutating func fields(_ tag: String? = nil) -> String {
        let lifetimes = [
            "max-age=60", "max-age=0", "no-cache", "max-age=1, stale-if-error=60", "max-age=0, must-revalidate",
        ]
        return
            "ETag: \(tag ?? content.tag)\r\nCache-Control: \(lifetimes[chance(lifetimes.count)])\r\nX-Label: \(content.label)\r\n"
    }

    mutating func head(_ status: String = "200 OK", _ more: String) -> [UInt8] {
        Array(("HTTP/1.1 \(status)\r\n" + fields() + more + "\r\n").utf8)
    }

    /// The head of a response with a correct length.
    mutating func head() -> [UInt8] { head("Content-Length: \(content.count)\r\n") }

    mutating func head(_ more: String) -> [UInt8] { head("200 OK", more) }

    func send(_ bytes: [UInt8]) { connection.send(bytes) }

    /// The content in chunks, without the last one.
    mutating func chunks() -> [UInt8] {
        var (wire, rest): ([UInt8], ArraySlice<UInt8>) = ([], content.bytes[...])
        while !rest.isEmpty {
            let chunk = rest.prefix(1 + chance(500))
            rest = rest.dropFirst(chunk.count)
            wire += Array("\(String(chunk.count, radix: 16))\r\n".utf8) + chunk + Array("\r\n".utf8)
        }
        return wire
    }

    /// What an origin should say: a 304 or a part where the request allows that, else all of it.
    mutating func answerHonestly() {
        if let tag = request.fields["if-none-match"], chance(2) == 0 {
            send(Array("HTTP/1.1 304 Not Modified\r\n\(fields(tag))\r\n".utf8))
        } else if let first = rangeStart,
            let version = request.fields["if-range"].flatMap({ Int($0.dropFirst().dropLast()) })
        {
            let known = DescribedContent(label: content.label, version: version)
            send(
                Array("HTTP/1.1 206 Partial Content\r\n\(fields(known.tag))\(range(first, known))\r\n".utf8)
                    + known.bytes[first...])
        } else {
            send(head() + content.bytes)
        }
    }

    /// The first byte that the request wants, if it wants a part.
    var rangeStart: Int? {
        request.fields["range"].flatMap { Int($0.dropFirst("bytes=".count).dropLast()) }
    }

    func range(_ first: Int, _ whole: DescribedContent) -> String {
        "Content-Range: bytes \(first)-\(whole.count - 1)/\(whole.count)\r\nContent-Length: \(whole.count - first)\r\n"
    }
}
