/// What a load carries, by phase.
public enum LoadContent: Sendable {
    /// Nothing yet.
    case empty
    /// A redirect, which a composite around the stage follows.
    case redirected
    /// The source's own bytes.
    case original(EncodedImage)
    /// Pixels.
    case decoded(DecodedImage)
    /// The result's bytes.
    case encoded(EncodedImage)
    /// The final result.
    case ready(LoadProduct)

    /// The phase that goes with the content.
    package var phase: Phase {
        switch self {
        case .empty: .empty
        case .redirected: .redirected
        case .original: .original
        case .decoded: .decoded
        case .encoded: .encoded
        case .ready: .ready
        }
    }

    /// What the content would be as a result; `nil` while there is nothing.
    package var product: LoadProduct? {
        switch self {
        case .empty, .redirected: nil
        case .original(let bytes), .encoded(let bytes): .bytes(bytes)
        case .decoded(let image): .image(image)
        case .ready(let product): product
        }
    }

    /// The memory that it holds, in bytes; `nil` while there is nothing. Read after each stage, so it copies no
    /// product.
    var cost: Int? {
        switch self {
        case .empty, .redirected: nil
        case .original(let bytes), .encoded(let bytes), .ready(.bytes(let bytes)): bytes.bytes.count
        case .decoded(let image), .ready(.image(let image)): image.byteCount
        }
    }
}
