#if AVIF
import Pipeline

/// The header of the movie in an AVIF file (AV1 Image File Format section 3, ISO/IEC 14496-12 section 8).
struct AVIFSequence {
    let size: PixelSize
    let frames: Int
    /// How often it plays; 0 means forever.
    let loops: Int
    let hasAlpha: Bool
    let bits: Int
    let orientation: ImageOrientation
    /// The ICC profile; empty if there is none.
    let profile: [UInt8]
    /// The colours by numbers; `nil` if there are none.
    let codedColors: CodedColors?
    /// Whether a box has a manifest store.
    let hasProvenance: Bool
    /// The offsets of the types of boxes that libavif doesn't need.
    private let spare: [Int]
    private let brands: [Int]

    /// Reads the movie; `nil` if the file is a still picture.
    /// - Throws: `undecodable` if its movie is invalid.
    init?(_ bytes: [UInt8]) throws(LoadError) {
        // Far more parts than a genuine file has.
        var budget = 10_000
        brands = Self.brands(bytes)
        guard brands.contains(where: { bytes[...].slice(at: $0, count: 4) == Self.brand }) else { return nil }
        let boxes = ISOBox.boxes(in: bytes[...], budget: &budget)
        guard let movie = boxes.first(where: { $0.type == "moov" }) else { return nil }
        var tracks: [AVIFTrack] = []
        var spare = boxes.filter { $0.type == "meta" }.map(\.typeIndex)
        for box in ISOBox.boxes(in: movie.content, budget: &budget) where box.type == "trak" {
            let track = try AVIFTrack(box.content, budget: &budget)
            if track.isAV1 { tracks.append(track) } else { spare.append(box.typeIndex) }
        }
        self.spare = spare
        guard budget > 0 else { throw Self.damaged("it has too many parts") }
        guard let pictures = tracks.first(where: { !$0.isAuxiliary && $0.samples > 0 }) else { return nil }
        // No frame is smaller than a byte.
        guard pictures.samples <= bytes.count else { throw Self.damaged("it has more frames than bytes") }
        size = pictures.size
        frames = pictures.samples
        loops = pictures.loops
        hasAlpha = tracks.contains { $0.isAuxiliary && $0.mayBeAlpha }
        bits = pictures.bits
        orientation = pictures.orientation
        profile = pictures.profile
        codedColors = pictures.codedColors
        hasProvenance = boxes.contains { $0.manifestStore != nil }
    }

    /// The offsets of the brands in the `ftyp` box (section 6.3).
    private static func brands(_ bytes: [UInt8]) -> [Int] {
        let end = min(bytes[...].number(at: 0, bytes: 4) ?? 0, bytes.count, 512)
        return [8] + stride(from: 16, to: end, by: 4)
    }

    /// Returns the file without the boxes that libavif doesn't need: the list of still pictures, which it searches for
    /// long, and audio tracks, which it takes for damaged ones.
    func movie(in bytes: [UInt8]) -> [UInt8] {
        guard !spare.isEmpty else { return bytes }
        var bytes = bytes
        for place in spare { bytes.replaceSubrange(place..<place + 4, with: "free".utf8) }
        // Without the brand of still pictures, the file needs no list of them.
        for place in brands where place + 4 <= bytes.count && bytes[place..<place + 4].elementsEqual("avif".utf8) {
            bytes.replaceSubrange(place..<place + 4, with: Self.brand)
        }
        return bytes
    }

    private static let brand = Array("avis".utf8)[...]

    static func damaged(_ reason: String) -> LoadError {
        LoadError(.undecodable, subject: "", "The image/avif file is damaged or cut off (\(reason)); get a new copy.")
    }
}
#endif
