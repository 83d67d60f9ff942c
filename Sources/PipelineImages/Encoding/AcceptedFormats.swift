public import Pipeline

/// The formats that a client accepts according to its `Accept` field (RFC 9110 section 12.5.1).
///
/// AVIF, WebP and formats of your own count only where they are named: `image/*` and `*/*` are also sent by clients that can't
/// read them. So without a field, JPEG, PNG and GIF are accepted. A response that depends on this needs `Vary: Accept`.
public struct AcceptedFormats: Sendable, Hashable {
    /// The formats to choose from, accepted or not: the one that compresses best first.
    let choices: [ImageFormat]
    /// What pictures of fewer pixels get that a format isn't for all sizes of.
    private let best: Choice
    /// What larger ones get, the smallest first.
    private let larger: [Choice]

    /// What pictures get from a size on.
    private struct Choice: Hashable {
        /// The least pixels of the picture.
        let pixels: Int
        /// The format of pictures without transparency.
        let opaque: ImageFormat
        /// The format of pictures with it.
        let transparent: ImageFormat
        /// The format of animations; `nil` if the client accepts neither WebP nor GIF. It then gets the format of a still
        /// picture, of which AVIF and PNG hold all frames.
        let moving: ImageFormat?

        init(_ candidates: Candidates, from pixels: Int) {
            self.pixels = pixels
            opaque = candidates.still(hasAlpha: false)
            transparent = candidates.still(hasAlpha: true)
            moving = candidates.heaviest(where: \.negotiation.holdsMotion)
        }

        func isLike(_ other: Choice) -> Bool {
            (opaque, transparent) == (other.opaque, other.transparent) && moving == other.moving
        }
    }

    /// By what most values differ in, since a server that keeps lists by them hashes one for each request.
    public func hash(into hasher: inout Hasher) { hasher.combine(best) }

    /// Reads the field.
    /// - Parameters:
    ///   - accept: The field's value, several joined by commas; `nil` or empty for a request without one. Malformed
    ///     members are ignored.
    ///   - codecs: The formats to choose from; by default ``ImageCodecs/standard``.
    ///   - countsWeights: Whether a higher weight comes before a smaller file, which is the default. Without, a weight of 0
    ///     still forbids a format, and all fields together lead to at most ten choices among the standard formats: a
    ///     server that strangers ask makes no more results of one picture.
    ///   - sizes: The pixels of the results, width times height, that a format is chosen for, such as
    ///     `[.avif: 0...2_000_000]`, since AVIF takes long; by default any. It makes no more choices for one picture.
    public init(
        accept: String?, codecs: ImageCodecs = .standard, countsWeights: Bool = true,
        sizes: [ImageFormat: ClosedRange<Int>] = [:]
    ) {
        let candidates = Candidates(accept, codecs, countsWeights: countsWeights)
        choices = candidates.all.map(\.format)
        best = Choice(candidates.within(sizes, 0), from: 0)
        // Where what is chosen may change.
        let bounds = sizes.values.flatMap { [$0.lowerBound, $0.upperBound == .max ? 0 : $0.upperBound + 1] }
        var larger: [Choice] = []
        for pixels in Set(bounds).sorted() where pixels > 0 {
            let choice = Choice(candidates.within(sizes, pixels), from: pixels)
            if !choice.isLike(larger.last ?? best) { larger.append(choice) }
        }
        self.larger = larger
    }

    /// Returns the format to write: the one with the highest weight among those that can hold the picture, then the one
    /// that compresses best. A client that accepts none of them gets JPEG, or PNG where there is transparency, as
    /// section 12.4.1 allows.
    /// - Parameters:
    ///   - hasAlpha: Whether a pixel is transparent; JPEG is then the last resort.
    ///   - isAnimated: Whether there are several frames. If accepted, WebP or GIF is then chosen.
    ///   - size: The picture's size, which counts if formats have sizes; by default the smallest.
    public func best(hasAlpha: Bool, isAnimated: Bool, size: PixelSize = 0) -> ImageFormat {
        let choice = larger.last { $0.pixels <= size.bytes(1) } ?? best
        if isAnimated, let moving = choice.moving { return moving }
        return hasAlpha ? choice.transparent : choice.opaque
    }
}

/// The formats that can be chosen, with what a client says of them.
private struct Candidates {
    struct Candidate {
        let format: ImageFormat
        let negotiation: Negotiation
        let holdsAlpha: Bool
        /// The weight in thousandths; 0 for a format that isn't accepted.
        let weight: Int
    }

    /// The one that compresses best first.
    let all: [Candidate]

    init(_ accept: String?, _ codecs: ImageCodecs, countsWeights: Bool) {
        let ranges = (accept ?? "").split(separator: ",").compactMap { MediaRange($0) }
        // A malformed field counts as none.
        let any = ranges.isEmpty ? 1000 : ranges.last { $0.type == "*/*" }?.weight ?? 0
        let anyImage = ranges.last { $0.type == "image/*" }?.weight ?? any
        let candidates = codecs.codecs.compactMap { codec -> Candidate? in
            guard let negotiation = codec.negotiation, let encoder = codec.encoder else { return nil }
            let named = ranges.last { $0.type == codec.format.rawValue }?.weight
            let weight = named ?? (negotiation.needsName ? 0 : anyImage)
            return Candidate(
                format: codec.format, negotiation: negotiation, holdsAlpha: encoder.holdsAlpha,
                weight: countsWeights ? weight : min(1, weight))
        }
        all = candidates.sorted { $0.negotiation.rank < $1.negotiation.rank }
    }

    private init(all: [Candidate]) { self.all = all }

    /// Those that are chosen for a picture of some pixels.
    func within(_ sizes: [ImageFormat: ClosedRange<Int>], _ pixels: Int) -> Candidates {
        Candidates(all: all.filter { sizes[$0.format]?.contains(pixels) ?? true })
    }

    func still(hasAlpha: Bool) -> ImageFormat {
        let stills = all.filter(\.negotiation.holdsStills)
        let holds = { (candidate: Candidate) in candidate.negotiation.holdsStills && (!hasAlpha || candidate.holdsAlpha)
        }
        let last = stills.first { !$0.negotiation.needsName && holds($0) } ?? stills.first ?? all.first
        return heaviest(where: holds) ?? heaviest(where: \.negotiation.holdsStills) ?? last?.format ?? .png
    }

    func heaviest(where isFit: (Candidate) -> Bool) -> ImageFormat? {
        // Of equals the first, which compresses best.
        all.filter { $0.weight > 0 && isFit($0) }.reduce(nil as Candidate?) { best, next in
            best.map { $0.weight >= next.weight } == true ? best : next
        }?.format
    }
}

extension AcceptedFormats: CustomStringConvertible {
    /// The formats of pictures without transparency, with it, and of animations. Fields that lead to the same formats are
    /// equal and have the same description, whatever their weights are: changing them makes no other list.
    public var description: String {
        ([best] + larger).map { choice in
            var text = choice.opaque.rawValue
            if choice.transparent != choice.opaque { text += ", \(choice.transparent.rawValue) with transparency" }
            if let moving = choice.moving, moving != choice.opaque { text += ", \(moving.rawValue) with motion" }
            return choice.pixels > 0 ? "\(text) from \(choice.pixels) pixels on" : text
        }.joined(separator: "; ")
    }
}
