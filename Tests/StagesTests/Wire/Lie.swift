import TestFixtures

/// What an origin may send that it shouldn't, and a little that it may.
enum Lie: CaseIterable {
    case forgedBehindEnd, garbageBehindEnd, interimBehindEnd, forgedBehindChunks, forgedBehind304, contentWith204
    case longerThanDeclared, shorterThanDeclared, twoLengths, lengthList, negativeLength, hugeLength, signedLength
    case lengthAndChunks, cutChunk, badChunkSize, hugeChunk, noLastChunk, trailers
    case resetBeforeHead, resetInHead, resetInBody, closedBeforeHead, closedInHead, closedInBody
    case manyInterim, switchedProtocols, hugeField, manyFields, longHead, zeroInField, foldedField, lineFeeds
    case falseGzip, unasked206, unasked304, foreign304, foreignPart, unsatisfiable
    case redirectLoop, longRedirects, redirectNowhere, noHead, badStatus, oldVersion
    case singleBytes, dribble, silence, silenceInBody, endless, closedAnyway

    /// Sends what it stands for.
    func tell(_ exchange: inout LyingExchange) {
        switch self {
        case .forgedBehindEnd, .garbageBehindEnd, .interimBehindEnd, .forgedBehindChunks, .forgedBehind304,
            .contentWith204, .longerThanDeclared, .shorterThanDeclared:
            tellOfEnd(&exchange)
        case .twoLengths, .lengthList, .negativeLength, .hugeLength, .signedLength, .lengthAndChunks, .cutChunk,
            .badChunkSize, .hugeChunk, .noLastChunk, .trailers:
            tellOfLength(&exchange)
        case .resetBeforeHead, .resetInHead, .resetInBody, .closedBeforeHead, .closedInHead, .closedInBody,
            .singleBytes, .dribble, .silence, .silenceInBody, .endless, .closedAnyway:
            tellOfConnection(&exchange)
        case .manyInterim, .switchedProtocols, .hugeField, .manyFields, .longHead, .zeroInField, .foldedField,
            .lineFeeds, .noHead, .badStatus, .oldVersion:
            tellOfHead(&exchange)
        case .falseGzip, .unasked206, .unasked304, .foreign304, .foreignPart, .unsatisfiable, .redirectLoop,
            .longRedirects, .redirectNowhere:
            tellOfMeaning(&exchange)
        }
    }

    private func tellOfEnd(_ exchange: inout LyingExchange) {
        let content = exchange.content
        switch self {
        case .forgedBehindEnd:
            exchange.send(exchange.head())
            exchange.send(content.bytes + exchange.forged)
        case .garbageBehindEnd:
            exchange.send(exchange.head() + content.bytes.dropLast())
            exchange.send([content.bytes[content.count - 1]] + Array("\r\n\r\n<html>".utf8))
        case .interimBehindEnd:
            exchange.send(
                exchange.head() + content.bytes + Array("HTTP/1.1 103 Early Hints\r\nX-Label: evil\r\n\r\n".utf8))
        case .forgedBehindChunks:
            exchange.send(
                exchange.head("Transfer-Encoding: chunked\r\n") + exchange.chunks() + Array("0\r\n\r\n".utf8)
                    + exchange.forged)
        case .forgedBehind304:
            let tag = exchange.request.fields["if-none-match"] ?? content.tag
            exchange.send(Array("HTTP/1.1 304 Not Modified\r\n\(exchange.fields(tag))\r\n".utf8) + exchange.forged)
        case .contentWith204: exchange.send(exchange.head("204 No Content", "") + exchange.forged)
        case .longerThanDeclared: exchange.send(exchange.head() + content.bytes + exchange.foreign.bytes)
        default:
            exchange.send(exchange.head("Content-Length: \(content.count + 10)\r\n") + content.bytes)
            exchange.connection.stop()
        }
    }

    private func tellOfLength(_ exchange: inout LyingExchange) {
        let (content, chunked) = (exchange.content, "Transfer-Encoding: chunked\r\n")
        func length(_ text: String) -> String { "Content-Length: \(text)\r\n" }
        switch self {
        case .twoLengths:
            exchange.send(exchange.head(length("\(content.count)") + length("\(content.count - 7)")) + content.bytes)
        case .lengthList: exchange.send(exchange.head(length("\(content.count), \(content.count)")) + content.bytes)
        case .negativeLength: exchange.send(exchange.head(length("-5")) + content.bytes)
        case .hugeLength: exchange.send(exchange.head(length("99999999999999999999")) + content.bytes)
        case .signedLength: exchange.send(exchange.head(length("+\(content.count)")) + content.bytes)
        case .lengthAndChunks:
            exchange.send(exchange.head(length("10") + chunked) + exchange.chunks() + Array("0\r\n\r\n".utf8))
        case .cutChunk: exchange.send(exchange.head(chunked) + exchange.chunks().dropLast(9))
        case .badChunkSize: exchange.send(exchange.head(chunked) + Array("zz\r\n".utf8) + exchange.chunks())
        case .hugeChunk: exchange.send(exchange.head(chunked) + Array("ffffffffffffffff\r\n".utf8) + content.bytes)
        case .noLastChunk: exchange.send(exchange.head(chunked) + exchange.chunks())
        default:
            let trailers =
                "0\r\nCache-Control: max-age=9999\r\nETag: \"9\"\r\nX-Label: evil\r\nContent-Length: 3\r\n\r\n"
            return exchange.send(exchange.head(chunked) + exchange.chunks() + Array(trailers.utf8))
        }
        if self != .lengthList && self != .lengthAndChunks { exchange.connection.stop() }
    }
}
