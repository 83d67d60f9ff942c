import CDeflate
import Pipeline

/// A PNG file taken apart into its chunks (ISO/IEC 15948 clause 5).
struct PNGFile {
    /// What a sample means.
    enum Colour: Int {
        case grey = 0
        case rgb = 2
        case palette = 3
        case greyAlpha = 4
        case rgba = 6

        /// Samples in a pixel.
        var samples: Int { [.grey: 1, .rgb: 3, .palette: 1, .greyAlpha: 2, .rgba: 4][self] ?? 1 }

        fileprivate var depths: [Int] {
            switch self {
            case .grey: [1, 2, 4, 8, 16]
            case .palette: [1, 2, 4, 8]
            case .rgb, .greyAlpha, .rgba: [8, 16]
            }
        }
    }

    let size: PixelSize
    /// Bits in a sample.
    let depth: Int
    let colour: Colour
    let isInterlaced: Bool
    private(set) var palette: ArraySlice<UInt8> = []
    private(set) var transparency: ArraySlice<UInt8>?
    private(set) var orientation = ImageOrientation.up
    private(set) var compressedProfile: ArraySlice<UInt8>?
    /// Whether a chunk that matters has another checksum than it says.
    private(set) var isDamaged = false
    /// The compressed pixels, in as many pieces as the file has.
    private var pieces: [ArraySlice<UInt8>] = []
    /// The chunks that make the pixels, each with its length and checksum.
    private var chunksOfPixels: [ArraySlice<UInt8>] = []

    init(_ bytes: [UInt8]) throws {
        var rest = bytes[...].dropFirst(8)
        guard let header = Self.nextChunk(&rest), header.type == "IHDR", header.isWhole,
            let width = header.body.number(at: 0, bytes: 4), let height = header.body.number(at: 4, bytes: 4),
            let depth = header.body.number(at: 8, bytes: 1),
            let colour = header.body.number(at: 9, bytes: 1).flatMap(Colour.init),
            let interlace = header.body.number(at: 12, bytes: 1), interlace < 2
        else { throw Self.damaged("its header makes no sense") }
        guard (1...0x7fff_ffff).contains(width), (1...0x7fff_ffff).contains(height), colour.depths.contains(depth)
        else { throw Self.damaged("its header makes no sense") }
        size = PixelSize(width: width, height: height)
        self.depth = depth
        self.colour = colour
        isInterlaced = interlace == 1
        chunksOfPixels = [bytes[..<rest.startIndex]]
        while let chunk = Self.nextChunk(&rest) {
            if ["PLTE", "tRNS", "IDAT", "IEND"].contains(chunk.type) { chunksOfPixels.append(chunk.bytes) }
            if chunk.type == "IEND" { return }
            if chunk.isWhole {
                take(chunk)
            } else if chunk.isCritical {
                isDamaged = true
            }
        }
        // The last pixels of a file that is cut off, which may be wanted all the same.
        if let type = rest.slice(at: 4, count: 4), type.elementsEqual("IDAT".utf8) { chunksOfPixels.append(rest) }
    }

    /// The file with its pixels alone: what reads every chunk would take as much memory as one claims to have, or as its
    /// text has when it is inflated, which a few bytes can say to be 2 GB.
    /// - Throws: `CancellationError`.
    func pixelsAlone(_ cancellation: WorkCancellation) throws -> [UInt8] {
        var file: [UInt8] = []
        file.reserveCapacity(chunksOfPixels.reduce(0) { $0 + $1.count })
        for chunk in chunksOfPixels {
            // One chunk may have all pixels.
            try chunk.withUnsafeBufferPointer { try file.append(contentsOf: $0, cancellation) }
        }
        return file
    }

    /// Bytes in a row, and in a pixel or at least one.
    var rowLength: Int { (size.width * colour.samples * depth + 7) / 8 }
    var pixelLength: Int { max(1, colour.samples * depth / 8) }

    /// The bytes of all rows with their filters, inflated; `nil` if they are more than any memory has.
    var inflatedLength: Int? {
        let (length, overflows) = (rowLength + 1).multipliedReportingOverflow(by: size.height)
        return overflows ? nil : length
    }

    /// The compressed pixels, in one piece.
    var stream: ArraySlice<UInt8> {
        if pieces.count == 1 { return pieces[0] }
        var stream: [UInt8] = []
        stream.reserveCapacity(pieces.reduce(0) { $0 + $1.count })
        for piece in pieces { stream.append(contentsOf: piece) }
        return stream[...]
    }

    /// The ICC profile, if there is one that can be read.
    var profile: [UInt8]? {
        guard let body = compressedProfile, let name = body.firstIndex(of: 0), name + 2 <= body.endIndex else {
            return nil
        }
        // The largest profiles have some megabytes; deflate makes at most a thousandfold of its bytes.
        let compressed = body[(name + 2)...]
        return Inflation.bytes(of: compressed, upTo: min(4 << 20, compressed.count * 1040))
    }

    private mutating func take(_ chunk: Chunk) {
        switch chunk.type {
        case "PLTE": palette = chunk.body
        case "tRNS": transparency = chunk.body
        case "eXIf": orientation = EXIFBlock(chunk.body)?.orientation ?? .up
        case "iCCP": compressedProfile = chunk.body
        case "IDAT": pieces.append(chunk.body)
        default: break
        }
    }

    private struct Chunk {
        let type: String
        let bytes: ArraySlice<UInt8>
        let body: ArraySlice<UInt8>
        let isWhole: Bool

        /// Whether it has to be understood: its name begins with a capital letter. Any other that is damaged is as good
        /// as none.
        var isCritical: Bool { type.utf8.first.map { $0 & 0x20 == 0 } ?? false }
    }

    /// The next chunk; `nil` where the file ends or is cut off.
    private static func nextChunk(_ rest: inout ArraySlice<UInt8>) -> Chunk? {
        guard let length = rest.number(at: 0, bytes: 4), let type = rest.slice(at: 4, count: 4),
            let body = rest.slice(at: 8, count: length), let sum = rest.number(at: 8 + length, bytes: 4),
            let bytes = rest.slice(at: 0, count: 12 + length)
        else { return nil }
        let checked = bytes.dropFirst(4).dropLast(4)
        rest = rest.dropFirst(12 + length)
        let actual = checked.withUnsafeBytes { libdeflate_crc32(0, $0.baseAddress, $0.count) }
        return Chunk(
            type: String(decoding: type, as: UTF8.self), bytes: bytes, body: body, isWhole: Int(actual) == sum)
    }

    static func damaged(_ reason: String) -> LoadError {
        LoadError(.undecodable, subject: "", "The image/png file is damaged or cut off (\(reason)); get it anew.")
    }
}
