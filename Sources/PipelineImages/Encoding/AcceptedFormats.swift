public import Pipeline

/// The formats that a client accepts, by the Accept field of its request (RFC 9110 section 12.5.1).
///
/// AVIF and WebP count only where they are named: `image/*` and `*/*` are also said by clients that know neither. So
/// without a field, JPEG, PNG and GIF are accepted. An answer that depends on this needs `Vary: Accept`.
public struct AcceptedFormats: Sendable, Hashable {
    /// Thousandths of a weight, by format; what is not there is not accepted.
    private var weights: [ImageFormat: Int] = [:]

    /// What is chosen from, the best first.
    static let candidates: [ImageFormat] = [.avif, .webp, .jpeg, .png, .gif]

    /// Reads the field.
    /// - Parameter accept: the field's value, several joined by commas; `nil` or empty for a request without one. What
    ///   makes no sense in it is passed over.
    public init(accept: String?) {
        let ranges = (accept ?? "").split(separator: ",").compactMap { MediaRange($0) }
        // A field of nonsense is as good as none.
        let any = ranges.isEmpty ? 1000 : ranges.last { $0.type == "*/*" }?.weight ?? 0
        let anyImage = ranges.last { $0.type == "image/*" }?.weight ?? any
        for format in Self.candidates {
            let isModern = format == .avif || format == .webp
            let weight = ranges.last { $0.type == format.rawValue }?.weight ?? (isModern ? 0 : anyImage)
            if weight > 0 { weights[format] = weight }
        }
    }

    /// The format to write: the one with the highest weight among those that hold what there is to show, then the one
    /// that packs best. If the client accepts none of them it gets JPEG, or PNG where there is transparency, as section
    /// 12.4.1 allows.
    /// - Parameters:
    ///   - hasAlpha: whether a pixel is transparent; JPEG is then the last resort.
    ///   - isAnimated: whether there are several frames; WebP and GIF hold them.
    public func best(hasAlpha: Bool, isAnimated: Bool) -> ImageFormat {
        if isAnimated, let format = heaviest(of: [.webp, .gif]) { return format }
        let fitting: [ImageFormat] = hasAlpha ? [.avif, .webp, .png] : [.avif, .webp, .jpeg, .png]
        return heaviest(of: fitting) ?? heaviest(of: [.jpeg]) ?? (hasAlpha ? .png : .jpeg)
    }

    private func heaviest(of formats: [ImageFormat]) -> ImageFormat? {
        formats.compactMap { format in weights[format].map { (format, $0) } }
            .max { $0.1 < $1.1 || ($0.1 == $1.1 && rank($0.0) > rank($1.0)) }?.0
    }

    private func rank(_ format: ImageFormat) -> Int { Self.candidates.firstIndex(of: format) ?? .max }

    /// The accepted formats.
    var formats: [ImageFormat] { Self.candidates.filter { weights[$0] != nil } }
}

extension AcceptedFormats: CustomStringConvertible {
    /// The formats with their weights where these are below 1: equal for all fields that mean the same here.
    public var description: String {
        formats.map { format in
            let weight = weights[format] ?? 0
            return weight == 1000 ? format.rawValue : "\(format);q=\(Double(weight) / 1000)"
        }.joined(separator: ", ")
    }
}
