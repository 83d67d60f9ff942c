import CDeflate
import Pipeline

/// Makes a zlib stream (RFC 1950) with libdeflate of bytes as they come, and can stop between any two pieces of them.
///
/// libdeflate takes a third of zlib's time, but it knows only whole streams and can't be stopped. So each piece is deflated
/// by itself, and ``DeflateEnd`` opens its end for the next. That no piece repeats anything of the one before it costs
/// some bytes in ten thousand of a photograph, and one in a hundred of a page of text.
final class DeflateStream {
    private let level: Int
    private let pieceLength: Int
    private let compressor: OpaquePointer
    /// A piece as it is written.
    private let output: UnsafeMutableBufferPointer<UInt8>
    private var isBegun = false
    private var checksum: UInt32 = 1

    /// Begins a stream.
    /// - Parameter level: from 0, none, to 9.
    /// - Throws: `LoadError.Code.unencodable` if there is no memory for it.
    init(level: Int) throws(LoadError) {
        guard let compressor = libdeflate_alloc_compressor(Int32(level)) else { throw Self.failure("out of memory") }
        self.level = level
        self.compressor = compressor
        pieceLength = Self.pieceLength(level: level)
        output = .allocate(
            capacity: libdeflate_zlib_compress_bound(compressor, pieceLength) + DeflateEnd.longestOpening)
    }

    deinit {
        libdeflate_free_compressor(compressor)
        output.deallocate()
    }

    /// How many bytes are deflated in one go: of a photograph 15 to 30 ms' worth.
    static func pieceLength(level: Int) -> Int { level < 7 ? 1 << 19 : level == 7 ? 1 << 18 : 1 << 17 }

    /// Deflates more bytes.
    /// - Parameters:
    ///   - isLast: whether the stream ends with them.
    ///   - write: takes what the stream goes on with.
    /// - Throws: `LoadError.Code.unencodable`; `CancellationError`.
    func deflate(
        _ bytes: UnsafeBufferPointer<UInt8>, isLast: Bool, _ cancellation: WorkCancellation,
        to write: (UnsafeBufferPointer<UInt8>) -> Void
    ) throws {
        var rest = bytes[...]
        repeat {
            try cancellation.check()
            let piece = UnsafeBufferPointer(rebasing: rest.prefix(pieceLength))
            rest = rest.dropFirst(piece.count)
            write(try deflated(piece, isLast: isLast && rest.isEmpty))
        } while !rest.isEmpty
    }

    private func deflated(
        _ piece: UnsafeBufferPointer<UInt8>, isLast: Bool
    ) throws(LoadError) -> UnsafeBufferPointer<UInt8> {
        var end = isBegun ? 0 : put(header, at: 0)
        isBegun = true
        let stream = UnsafeMutableBufferPointer(rebasing: output[end...])
        let count = libdeflate_deflate_compress(
            compressor, piece.baseAddress, piece.count, stream.baseAddress, stream.count)
        guard count > 0 else { throw Self.failure("libdeflate takes more room than it said") }
        checksum = libdeflate_adler32(checksum, piece.baseAddress, piece.count)
        if isLast {
            end = put(checksum.bigEndian(4), at: end + count)
        } else {
            guard let joint = DeflateEnd(of: UnsafeBufferPointer(rebasing: stream[..<count])) else {
                throw Self.failure("zlib can't read what libdeflate wrote")
            }
            end += joint.open(stream)
        }
        return UnsafeBufferPointer(rebasing: output[..<end])
    }

    /// Writes into the output; gives the place behind it.
    private func put(_ bytes: [UInt8], at place: Int) -> Int {
        for (index, byte) in bytes.enumerated() { output[place + index] = byte }
        return place + bytes.count
    }

    /// Section 2.2: a window of 32 KB, and how much was tried.
    private var header: [UInt8] { [0x78, level < 2 ? 0x01 : level < 6 ? 0x5e : level == 6 ? 0x9c : 0xda] }

    private static func failure(_ reason: String) -> LoadError {
        LoadError(.unencodable, subject: "", "The picture can't be deflated: \(reason).")
    }
}
