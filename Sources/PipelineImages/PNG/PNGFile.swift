#if PNG
import Pipeline

/// A PNG file split into its chunks (ISO/IEC 15948 clause 5).
struct PNGFile {
    /// The colour type.
    enum Color: Int {
        case gray = 0
        case rgb = 2
        case palette = 3
        case grayAlpha = 4
        case rgba = 6

        /// The number of samples in a pixel.
        var samples: Int {
            switch self {
            case .gray, .palette: 1
            case .grayAlpha: 2
            case .rgb: 3
            case .rgba: 4
            }
        }

        fileprivate var depths: [Int] {
            switch self {
            case .gray: [1, 2, 4, 8, 16]
            case .palette: [1, 2, 4, 8]
            case .rgb, .grayAlpha, .rgba: [8, 16]
            }
        }
    }

    let size: PixelSize
    /// Bits in a sample.
    let depth: Int
    let color: Color
    let isInterlaced: Bool
    private(set) var orientation = ImageOrientation.up
    private var hasEXIF = false
    /// The colours of the chunk `cICP` (PNG, third edition, section 11.3.2.6); the first that is correct counts.
    private(set) var codedColors: CodedColors?
    /// The frames of an animation; none for a still picture.
    private(set) var animation: PNGAnimation
    /// Whether a chunk begins with a manifest store.
    private(set) var hasProvenance = false
    /// Whether a critical chunk has a wrong checksum.
    private(set) var isDamaged = false
    let bytes: [UInt8]
    /// The range of the signature and the header.
    private let start: Range<Int>
    /// The range of the header's fields.
    let headerFields: Range<Int>
    /// The palette's colours, three bytes each; empty without one.
    private(set) var palette: ArraySlice<UInt8> = []
    /// The palette's transparency, or the transparent colour; `nil` if damaged.
    private(set) var transparency: ArraySlice<UInt8>?
    private(set) var paletteChunk, transparencyChunk: PNGChunk?
    private var profileChunk: PNGChunk?
    /// The pieces of the compressed pixels.
    private var pieces: [PNGChunk] = []
    /// The last, incomplete piece of a truncated file, which may still be decoded.
    private var rest: Range<Int>?

    init(_ bytes: [UInt8], _ cancellation: WorkCancellation) throws {
        var chunks = PNGChunks(bytes, cancellation)
        guard let header = try chunks.next(), header.kind == .header, header.isWhole(in: bytes) else {
            throw Self.damaged("its header makes no sense")
        }
        let fields = bytes[header.body]
        guard let width = fields.number(at: 0, bytes: 4), let height = fields.number(at: 4, bytes: 4),
            let depth = fields.number(at: 8, bytes: 1),
            let color = fields.number(at: 9, bytes: 1).flatMap(Color.init),
            let interlace = fields.number(at: 12, bytes: 1), interlace < 2,
            (1...0x7fff_ffff).contains(width), (1...0x7fff_ffff).contains(height), color.depths.contains(depth)
        else { throw Self.damaged("its header makes no sense") }
        size = PixelSize(width: width, height: height)
        self.depth = depth
        self.color = color
        self.bytes = bytes
        isInterlaced = interlace == 1
        start = 0..<header.whole.upperBound
        headerFields = header.body
        animation = PNGAnimation(size)
        var next = try chunks.next()
        while let chunk = next, chunk.kind != .end {
            take(chunk)
            next = try chunks.next()
        }
        animation.close()
        if next == nil, bytes[...].number(at: chunks.position + 4, bytes: 4) == Int(PNGChunk.Kind.pixels.rawValue) {
            rest = chunks.position..<bytes.count
        }
    }

    private mutating func take(_ chunk: PNGChunk) {
        // Chunks that aren't used aren't checked either.
        guard chunk.kind != nil || chunk.isCritical, chunk.kind != .text else { return }
        // A frame's pixels are checked when it is drawn.
        if chunk.kind == .framePixels { return animation.takePixels(chunk, bytes[chunk.body]) }
        if chunk.kind == .provenance {
            hasProvenance = hasProvenance || ManifestStore.begins(bytes[chunk.body])
            return
        }
        let isWhole = chunk.isWhole(in: bytes)
        if !isWhole, chunk.isCritical { isDamaged = true }
        switch chunk.kind {
        case .palette where paletteChunk == nil:
            paletteChunk = chunk
            palette = bytes[chunk.body]
        case .transparency where isWhole && transparencyChunk == nil:
            transparencyChunk = chunk
            transparency = bytes[chunk.body]
        case .pixels: pieces.append(chunk)
        case .profile where isWhole: profileChunk = profileChunk ?? chunk
        case .codedColors where isWhole && codedColors == nil && chunk.body.count == 4:
            let numbers = bytes[chunk.body].map { Int($0) }
            codedColors = CodedColors(
                primaries: numbers[0], transfer: numbers[1], matrix: numbers[2], isFullRange: numbers[3] != 0)
        case .animation where isWhole && pieces.isEmpty:
            animation.takeNumbers(bytes[chunk.body], fileLength: bytes.count)
        case .frame: animation.takeFrame(bytes[chunk.body], isWhole: isWhole, isPicture: pieces.isEmpty)
        case .exif where isWhole && !hasEXIF:
            hasEXIF = true
            orientation = EXIFBlock(bytes[chunk.body])?.orientation ?? .up
        default: break
        }
    }

    /// The colours by which the pixels become sRGB, before any profile; `nil` if the chunk leaves that to others. A PNG
    /// always holds RGB, which is matrix 0.
    var decisiveColors: CodedColors? { codedColors.flatMap { $0.isKnown && $0.matrix == 0 ? $0 : nil } }

    /// Whether it has an ICC profile.
    var hasProfile: Bool { profileChunk != nil }

    /// Returns the file without any metadata, in the order of the standard. A library that reads every chunk would
    /// allocate as much memory as a chunk claims, or as its text takes inflated: up to 2 GB for a few bytes.
    /// - Throws: `CancellationError`.
    func pixelsAlone(_ cancellation: WorkCancellation) throws -> [UInt8] {
        let chunks = [paletteChunk, transparencyChunk].compactMap { $0 } + pieces
        let ranges = [start] + chunks.map(\.whole) + (rest.map { [$0] } ?? [])
        var file: [UInt8] = []
        file.reserveCapacity(ranges.reduce(0) { $0 + $1.count } + Self.end.count)
        for range in ranges {
            // One chunk may hold all pixels.
            try bytes[range].withUnsafeBufferPointer { try file.append(contentsOf: $0, cancellation) }
        }
        // Some programs omit the end chunk, though all pixels are there.
        return rest == nil ? file + Self.end : file
    }

    /// The end chunk.
    private static let end: [UInt8] = [0, 0, 0, 0, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82]

    /// The bytes of a row, and those of a pixel, at least one.
    var rowLength: Int { (size.width * color.samples * depth + 7) / 8 }
    var pixelLength: Int { max(1, color.samples * depth / 8) }

    /// The inflated bytes of all rows with their filters; `nil` on overflow.
    var inflatedLength: Int? {
        let (length, overflows) = (rowLength + 1).multipliedReportingOverflow(by: size.height)
        return overflows ? nil : length
    }

    /// The size of the compressed pixels in bytes.
    var compressedLength: Int { pieces.reduce(0) { $0 + $1.body.count } }

    /// The memory of the lists of pieces and frames, whose capacity may be twice their count.
    var listLength: Int { 2 * (pieces.count * MemoryLayout<PNGChunk>.stride + animation.listLength) }

    /// The compressed pixels, joined.
    var stream: ArraySlice<UInt8> {
        if pieces.count == 1 { return bytes[pieces[0].body] }
        var stream: [UInt8] = []
        stream.reserveCapacity(compressedLength)
        for piece in pieces { stream.append(contentsOf: bytes[piece.body]) }
        return stream[...]
    }

    /// The ICC profile; `nil` if there is no readable one, or if ``decisiveColors`` go before it.
    var profile: [UInt8]? {
        guard decisiveColors == nil else { return nil }
        return profileChunk.flatMap { Self.profile(in: bytes[$0.body]) }
    }

    /// Reads a profile's chunk: a name, a zero, the method, and the compressed profile.
    static func profile(in body: ArraySlice<UInt8>) -> [UInt8]? {
        guard let name = body.firstIndex(of: 0), name + 2 <= body.endIndex else { return nil }
        // The largest profiles have some megabytes. Deflate compresses to a thousandth at most.
        let compressed = body[(name + 2)...]
        return Inflation.bytes(of: compressed, upTo: min(4 << 20, compressed.count * 1040))
    }

    static func damaged(_ reason: String) -> LoadError {
        LoadError(.undecodable, subject: "", "The image/png file is damaged or cut off (\(reason)); get a new copy.")
    }
}
#endif
