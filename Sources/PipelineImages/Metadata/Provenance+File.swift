import Pipeline

extension ImageMetadata.Provenance {
    /// More boxes than any genuine file has in one place.
    private static let mostBoxes = 10_000

    /// Finds the manifests of a file. Returns `nil` if there are none, or if the format can't hold any.
    /// - Throws: `LoadError.Code.undecodable` for a damaged file; `CancellationError`.
    init?(of bytes: [UInt8], _ format: ImageFormat, _ cancellation: WorkCancellation) throws {
        let candidates =
            switch format {
            case .jpeg: try Self.boxes(inJPEG: bytes, cancellation)
            #if PNG
            case .png: try Self.chunks(inPNG: bytes, cancellation)
            #endif
            #if WebP
            case .webp:
                try bytes.withUnsafeBufferPointer { try WebPFile($0).chunk("C2PA") }.map { [$0[...]] } ?? []
            #endif
            case .avif, .heic: Self.boxes(inHEIF: bytes)
            default: [ArraySlice<UInt8>]()
            }
        for candidate in candidates {
            try cancellation.check()
            if let found = Self(candidate) {
                self = found
                return
            }
        }
        return nil
    }

    /// Describes a manifest store: a superbox with the label `c2pa`. Its last superbox is the active manifest (C2PA 2.1,
    /// section 11.1.4).
    private init?(_ bytes: ArraySlice<UInt8>) {
        var budget = 1
        guard let box = ISOBox.boxes(in: bytes, budget: &budget).first else { return nil }
        budget = Self.mostBoxes
        guard let store = JUMBFBox(box, budget: &budget), store.label == "c2pa" else { return nil }
        let active = store.boxes.last { $0.type == "jumb" }.flatMap { JUMBFBox($0, budget: &budget) }
        self.init(byteCount: box.content.endIndex - bytes.startIndex, label: active?.label)
    }

    /// Joins the boxes in a JPEG's segments (ISO/IEC 19566-5 annex D). A piece has the number of its box, its place in
    /// the box, and again the box's header.
    private static func boxes(
        inJPEG bytes: [UInt8], _ cancellation: WorkCancellation
    ) throws -> [ArraySlice<UInt8>] {
        var boxes: [Int: [(place: Int, piece: ArraySlice<UInt8>)]] = [:]
        for piece in try JPEGSegments(bytes, cancellation).boxPieces {
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
    /// The chunks of a PNG with manifests (C2PA 2.1, annex A.3.2).
    private static func chunks(
        inPNG bytes: [UInt8], _ cancellation: WorkCancellation
    ) throws -> [ArraySlice<UInt8>] {
        var chunks = PNGChunks(bytes, cancellation)
        while let chunk = try chunks.next() {
            if chunk.letters == "caBX" { return [bytes[chunk.body]] }
        }
        return []
    }
    #endif

    /// The content of the boxes of an AVIF or HEIC with manifests, after a version, a purpose and an offset (C2PA 2.1,
    /// annex A.5).
    private static func boxes(inHEIF bytes: [UInt8]) -> [ArraySlice<UInt8>] {
        var budget = mostBoxes
        return ISOBox.boxes(in: bytes[...], budget: &budget).compactMap { box in
            guard box.type == "uuid", box.content.starts(with: manifests),
                let end = box.content.dropFirst(20).prefix(64).firstIndex(of: 0)
            else { return nil }
            return box.content[(end + 1)...].dropFirst(8)
        }
    }

    private static let manifests: [UInt8] = [
        0xd8, 0xfe, 0xc3, 0xd6, 0x1b, 0x0e, 0x48, 0x3c, 0x92, 0x97, 0x58, 0x28, 0x87, 0x7e, 0xc4, 0x81,
    ]
}
