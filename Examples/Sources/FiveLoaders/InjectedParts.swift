import FoundationEssentials
import Pipeline
import Stages

// A caching loader with closures for its cache and its loading, as in Squirrel.

/// A cache of your own: here a dictionary, elsewhere a database or a service.
public actor Shelf {
    private var images: [VariantKey: LoadProduct] = [:]
    /// How often an image was found.
    public private(set) var hits = 0

    /// Makes an empty shelf.
    public init() {}

    func image(_ key: VariantKey) -> LoadProduct? {
        if images[key] != nil { hits += 1 }
        return images[key]
    }

    func keep(_ image: LoadProduct, _ key: VariantKey) { images[key] = image }
}

/// Makes a loader that gets bytes from `load`, and stores images on `shelf`.
public func loaderOfClosures(
    shelf: Shelf, load: @escaping @Sendable (URL) async throws -> [UInt8]
) -> ImagePipeline {
    let cache = ClosureCache(
        read: { key in await shelf.image(key) }, write: { image, key in await shelf.keep(image, key) })
    return ImagePipeline {
        ResolveIdentifier()
        ReadCache(cache)
        Fetch(ClosureClient(load))
        Decode()
        Downscale()
        WriteCache(cache)
    }
}

/// Explains an error to a user.
public func explanation(of error: any Error) -> String {
    guard let error = error as? LoadError else { return "cancelled" }
    switch error.code {
    case .invalidURL: return "empty URL"
    case .undecodable: return "invalid image data"
    default: return "loading failed: \(error.underlying.map { "\($0)" } ?? error.message)"
    }
}
