public import Pipeline

/// The formats that a client accepts according to its `Accept` field (RFC 9110 section 12.5.1).
///
/// AVIF, WebP and formats of your own count only where they are named: `image/*` and `*/*` are also sent by clients that can't
/// read them. So without a field, JPEG, PNG and GIF are accepted. A response that depends on this needs `Vary: Accept`.
public struct AcceptedFormats: Sendable, Hashable {
    private struct Candidate: Hashable {
        let format: ImageFormat
        let negotiation: Negotiation
        let holdsAlpha: Bool
        /// The weight in thousandths; 0 for a format that isn't accepted.
        let weight: Int
    }

    /// The formats to choose from, the one that compresses best first.
    private let candidates: [Candidate]

    /// Reads the field.
    /// - Parameters:
    ///   - accept: The field's value, several joined by commas; `nil` or empty for a request without one. Malformed
    ///     members are ignored.
    ///   - codecs: The formats to choose from; by default ``ImageCodecs/standard``.
    public init(accept: String?, codecs: ImageCodecs = .standard) {
        let ranges = (accept ?? "").split(separator: ",").compactMap { MediaRange($0) }
        // A malformed field counts as none.
        let any = ranges.isEmpty ? 1000 : ranges.last { $0.type == "*/*" }?.weight ?? 0
        let anyImage = ranges.last { $0.type == "image/*" }?.weight ?? any
        let candidates = codecs.codecs.compactMap { codec -> Candidate? in
            guard let negotiation = codec.negotiation, let encoder = codec.encoder else { return nil }
            let named = ranges.last { $0.type == codec.format.rawValue }?.weight
            return Candidate(
                format: codec.format, negotiation: negotiation, holdsAlpha: encoder.holdsAlpha,
                weight: named ?? (negotiation.needsName ? 0 : anyImage))
        }
        self.candidates = candidates.sorted { $0.negotiation.rank < $1.negotiation.rank }
    }

    /// Returns the format to write: the one with the highest weight among those that can hold the picture, then the one
    /// that compresses best. A client that accepts none of them gets JPEG, or PNG where there is transparency, as
    /// section 12.4.1 allows.
    /// - Parameters:
    ///   - hasAlpha: Whether a pixel is transparent; JPEG is then the last resort.
    ///   - isAnimated: Whether there are several frames; WebP and GIF hold them.
    public func best(hasAlpha: Bool, isAnimated: Bool) -> ImageFormat {
        if isAnimated, let format = heaviest(where: { $0.negotiation.holdsMotion }) { return format }
        let stills = candidates.filter(\.negotiation.holdsStills)
        let holds = { (candidate: Candidate) in candidate.negotiation.holdsStills && (!hasAlpha || candidate.holdsAlpha)
        }
        let last = stills.first { !$0.negotiation.needsName && holds($0) } ?? stills.first ?? candidates.first
        return heaviest(where: holds) ?? heaviest(where: { $0.negotiation.holdsStills }) ?? last?.format ?? .png
    }

    private func heaviest(where isFit: (Candidate) -> Bool) -> ImageFormat? {
        // Of equals the first, which compresses best.
        candidates.filter { $0.weight > 0 && isFit($0) }.reduce(nil as Candidate?) { best, next in
            best.map { $0.weight >= next.weight } == true ? best : next
        }?.format
    }

    /// The formats to choose from, accepted or not.
    var choices: [ImageFormat] { candidates.map(\.format) }

    /// The accepted formats.
    var formats: [ImageFormat] { candidates.filter { $0.weight > 0 }.map(\.format) }
}

extension AcceptedFormats: CustomStringConvertible {
    /// The accepted formats, with their weights below 1. Fields with the same meaning have the same description.
    public var description: String {
        candidates.filter { $0.weight > 0 }.map {
            $0.weight == 1000 ? $0.format.rawValue : "\($0.format);q=\(Double($0.weight) / 1000)"
        }.joined(separator: ", ")
    }
}
