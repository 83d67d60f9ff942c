import Testing

@testable import PipelineImages
import Stages

@Suite("Bytes are deflated piece by piece into one stream")
struct DeflateStreamTests {
    /// Deflates pieces, and gives what is in the stream that they make.
    private func inflated(_ pieces: [[UInt8]], level: Int) throws -> [UInt8]? {
        let stream = try DeflateStream(level: level)
        var deflated: [UInt8] = []
        for (index, piece) in pieces.enumerated() {
            try piece.withUnsafeBufferPointer {
                try stream.deflate($0, isLast: index == pieces.count - 1, WorkCancellation()) { deflated += $0 }
            }
        }
        return Inflation.bytes(of: deflated[...], upTo: pieces.reduce(1) { $0 + $1.count })
    }

    @Test("Whatever bit a piece ends at, the next one follows it", arguments: 0...9)
    func pieces(_ level: Int) throws {
        var random = SeededGenerator(seed: UInt64(level))
        let pieces = (1...300).map { length -> [UInt8] in
            // From what hardly repeats itself to what hardly changes.
            let values = UInt8(1 + length % 200)
            return (0..<length).map { _ in UInt8.random(in: 0..<values, using: &random) }
        }
        #expect(try inflated(pieces, level: level) == Array(pieces.joined()))
    }

    @Test("What is longer than a piece is cut, and so is what ends with one", arguments: [-1, 0, 1, 1 << 17])
    func long(_ more: Int) throws {
        let length = DeflateStream.pieceLength(level: 9) + more
        let bytes = (0..<length).map { UInt8(truncatingIfNeeded: $0 ^ $0 / 300) }
        #expect(try inflated([bytes], level: 9) == bytes)
        #expect(try inflated([bytes, [7]], level: 9) == bytes + [7])
    }

    @Test("A stream that is damaged or goes on has no end")
    func end() throws {
        for bytes: [UInt8] in [[], [0xff, 0xff], [0, 1, 0, 0xfe, 0xff, 9]] {
            #expect(bytes.withUnsafeBufferPointer { DeflateEnd(of: $0) } == nil)
        }
    }
}
