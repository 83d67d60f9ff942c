import Pipeline

extension ImageMetadata.Provenance {
    /// More boxes than any genuine file has in one place.
    private static let mostBoxes = 10_000

    /// Finds the manifests of a file, or their address in its XMP. Returns `nil` if there are none, or if the format can't
    /// hold any.
    /// - Throws: `LoadError.Code.undecodable` for a damaged file; `CancellationError`.
    init?(of bytes: [UInt8], _ format: ImageFormat, xmp: [UInt8], _ cancellation: WorkCancellation) throws {
        let candidates =
            switch format {
            case .jpeg: try Self.boxes(inJPEG: bytes, cancellation)
            #if PNG
            case .png: try Self.chunks(inPNG: bytes, cancellation)
            #endif
            #if WebP
            case .webp: Self.chunks(inWebP: bytes)
            #endif
            case .avif, .heic: Self.boxes(inHEIF: bytes)
            default: [ArraySlice<UInt8>]()
            }
        var found = Self(byteCount: 0, manifests: 0, label: nil, url: XMPRewriting.manifestURL(in: xmp))
        for candidate in candidates {
            try cancellation.check()
            found.add(candidate)
        }
        if found.byteCount == 0, found.url == nil { return nil }
        self = found
    }

    /// Adds the manifests of a store. Its last superbox is the active manifest (C2PA 2.1, section 11.1.4).
    private mutating func add(_ bytes: ArraySlice<UInt8>) {
        var budget = 1
        guard let box = ISOBox.boxes(in: bytes, budget: &budget).first else { return }
        budget = Self.mostBoxes
        guard let store = JUMBFBox(box, budget: &budget), store.label == "c2pa" else { return }
        let all = store.boxes.filter { $0.type == "jumb" }
        self = Self(
            byteCount: byteCount + box.content.endIndex - bytes.startIndex, manifests: manifests + all.count,
            label: all.last.flatMap { JUMBFBox($0, budget: &budget) }?.label, url: url)
    }

    /// Joins the boxes in a JPEG's segments (ISO/IEC 19566-5 annex D). A piece has the number of its box, its place in
    /// the box, and again the box's header.
    private static func boxes(
        inJPEG bytes: [UInt8], _ cancellation: WorkCancellation
    ) throws -> [ArraySlice<UInt8>] {
        var boxes: [Int: [(place: Int, piece: ArraySlice<UInt8>)]] = [:]
        for piece in try JPEGSegments(bytes[...], cancellation).boxPieces {
            guard let box = piece.number(at: 0, bytes: 2), let place = piece.number(at: 2, bytes: 4) else { continue }
            boxes[box, default: []].append((place, piece.dropFirst(6)))
        }
        return boxes.sorted { $0.key < $1.key }.map { _, pieces in
            let pieces = pieces.sorted { $0.place < $1.place }.map(\.piece)
            let header = pieces[0].number(at: 0, bytes: 4) == 1 ? 16 : 8
            return pieces.dropFirst().reduce(into: pieces[0]) { $0 += $1.dropFirst(header) }
        }
    }

    #if PNG
    /// The chunks of a PNG with manifests (C2PA 2.1, annex A.3.2), of which the first counts.
    private static func chunks(
        inPNG bytes: [UInt8], _ cancellation: WorkCancellation
    ) throws -> [ArraySlice<UInt8>] {
        var chunks = PNGChunks(bytes, cancellation)
        while let chunk = try chunks.next() {
            if chunk.kind == .provenance { return [bytes[chunk.body]] }
        }
        return []
    }
    #endif

    #if WebP
    /// The chunks of a WebP with manifests (C2PA 2.1, annex A.3.6), of which the first counts.
    private static func chunks(inWebP bytes: [UInt8]) -> [ArraySlice<UInt8>] {
        let body = bytes.withUnsafeBufferPointer { WebPChunks($0).first { $0.name == "C2PA" }?.body }
        return body.map { [bytes[$0]] } ?? []
    }
    #endif

    /// The stores in the boxes of an AVIF or HEIC, those of updates last.
    private static func boxes(inHEIF bytes: [UInt8]) -> [ArraySlice<UInt8>] {
        var budget = mostBoxes
        let stores = ISOBox.boxes(in: bytes[...], budget: &budget).compactMap(\.manifestStore)
        return (stores.filter { !$0.isUpdate } + stores.filter(\.isUpdate)).map(\.bytes)
    }
}
