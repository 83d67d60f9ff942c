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

    /// Reads the movie; `nil` if the file is a still picture.
    /// - Throws: `undecodable` if it has a movie that makes no sense.
    init?(_ bytes: [UInt8]) throws(LoadError) {
        // As many parts as an honest file has by far.
        var budget = 10_000
        guard Self.hasSequence(bytes),
            let movie = ISOBox.boxes(in: bytes[...], budget: &budget).first(where: { $0.type == "moov" })
        else { return nil }
        var tracks: [AVIFTrack] = []
        for box in ISOBox.boxes(in: movie.content, budget: &budget) where box.type == "trak" {
            tracks.append(try AVIFTrack(box.content, budget: &budget))
        }
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

    /// Whether a brand of the `ftyp` box says so (section 6.3).
    private static func hasSequence(_ bytes: [UInt8]) -> Bool {
        let end = min(bytes[...].number(at: 0, bytes: 4) ?? 0, bytes.count, 512)
        return ([8] + stride(from: 16, to: end, by: 4)).contains { bytes[...].slice(at: $0, count: 4) == Self.brand }
    }

    private static let brand = Array("avis".utf8)[...]

    static func damaged(_ reason: String) -> LoadError {
        LoadError(.undecodable, subject: "", "The image/avif file is damaged or cut off (\(reason)); get it anew.")
    }
}
