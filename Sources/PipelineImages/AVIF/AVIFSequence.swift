import Pipeline

/// What the movie in an AVIF file says of its pictures (AV1 Image File Format section 3, ISO/IEC 14496-12 section 8).
struct AVIFSequence {
    let size: PixelSize
    let frames: Int
    /// How often it plays; 0 is for ever.
    let loops: Int
    let hasAlpha: Bool
    let bits: Int
    let orientation: ImageOrientation
    /// An ICC profile; empty where there is none.
    let profile: [UInt8]
    /// Where the types of boxes stand that libavif has no use for.
    private let spare: [Int]
    private let brands: [Int]

    /// Reads the movie; `nil` if the file is a still picture.
    /// - Throws: `undecodable` if it has a movie that makes no sense.
    init?(_ bytes: [UInt8]) throws(LoadError) {
        // As many parts as an honest file has by far.
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
        // No picture is smaller than a byte.
        guard pictures.samples <= bytes.count else { throw Self.damaged("it has more frames than bytes") }
        size = pictures.size
        frames = pictures.samples
        loops = pictures.loops
        hasAlpha = tracks.contains { $0.isAuxiliary && $0.mayBeAlpha }
        bits = pictures.bits
        orientation = pictures.orientation
        profile = pictures.profile
    }

    /// Where the brands of the `ftyp` box stand (section 6.3).
    private static func brands(_ bytes: [UInt8]) -> [Int] {
        let end = min(bytes[...].number(at: 0, bytes: 4) ?? 0, bytes.count, 512)
        return [8] + stride(from: 16, to: end, by: 4)
    }

    /// The file without what libavif has no use for: the list of still pictures, in which it searches long, and tracks of
    /// sound, which it takes for damaged ones.
    func movie(in bytes: [UInt8]) -> [UInt8] {
        guard !spare.isEmpty else { return bytes }
        var bytes = bytes
        for place in spare { bytes.replaceSubrange(place..<place + 4, with: "free".utf8) }
        // A file that doesn't promise a still picture need not have its list.
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
