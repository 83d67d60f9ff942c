import Pipeline
public import PipelineImages

/// Which stored results a list takes for its own.
///
/// Whoever can write to a tier that machines share, or to a cache's folder, can store any bytes there under any media
/// type, and a server would send them with that type. So a result is checked where it enters the list. One that isn't
/// expected is a miss: it is replaced, and never stored elsewhere.
public enum ExpectedResult: Sendable {
    /// A picture in a format that one of these codecs writes, declared as that format, whose bytes begin as a file of it.
    case picture(ImageCodecs)
    /// Bytes without a media type, as a stage of your own makes them.
    case untyped
    /// Anything. Don't send such a result with the type that it declares.
    case anything

    /// What a stage that expects this is compared by.
    package func identity(_ text: String = "", over objects: [any Sendable]) -> StageIdentity? {
        switch self {
        case .picture(let codecs): StageIdentity("picture", text, over: objects + codecs.codecs)
        case .untyped: StageIdentity("untyped", text, over: objects)
        case .anything: StageIdentity("anything", text, over: objects)
        }
    }

    /// Whether a result that others could have written is told from one of the list's own.
    var isChecked: Bool { if case .anything = self { false } else { true } }

    /// Whether a result is one of these.
    package func includes(_ image: EncodedImage) -> Bool {
        switch self {
        case .picture(let codecs):
            guard let type = image.declaredType, let codec = codecs.codec(for: ImageFormat(rawValue: type)) else {
                return false
            }
            return codec.encoder != nil && codec.matches(image.bytes)
        case .untyped: return image.declaredType == nil
        case .anything: return true
        }
    }
}
