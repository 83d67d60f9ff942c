import Pipeline
import Synchronization

/// What became of a prefetched image when a load asked for it.
public enum PrefetchUse: Sendable, Hashable {
    /// The load used it.
    case used
    /// It was prefetched in this size, `nil` for the source's own, and the load asked for another: only the download was
    /// of use, and the image was decoded again.
    case otherSize(PixelSize?)
}

/// The images that were prefetched and that no load has asked for yet: the last 10,000 of a loader.
final class PrefetchedImages: Sendable {
    private enum Form {
        /// Pixels in the size that was asked for; `nil` for the source's own.
        case pixels(PixelSize?)
        /// The source's bytes, for any size.
        case bytes
    }

    private static let limit = 10_000
    private let images = Lock(LeastRecentlyUsed<SourceKey, Form>())
    /// Read without the lock, which would slow down memory hits.
    private let count = Atomic<Int>(0)

    /// Notes an image that is being prefetched.
    func begin(_ key: SourceKey, _ size: PixelSize?) {
        images.withLock { images in
            if images.count >= Self.limit { _ = images.removeOldest() }
            _ = images.insert(.pixels(size), for: key)
            count.store(images.count, ordering: .relaxed)
        }
    }

    /// Notes that no load has to use the image: it failed, or was in memory before.
    func drop(_ key: SourceKey) {
        images.withLock { images in
            _ = images.remove(key)
            count.store(images.count, ordering: .relaxed)
        }
    }

    /// Notes that the bytes alone were prefetched.
    func keepBytes(_ key: SourceKey) {
        images.withLock { images in if images.peek(key) != nil { _ = images.insert(.bytes, for: key) } }
    }

    /// What became of the prefetched image that a load has delivered in some size; told once. `nil` if there was none.
    func take(_ key: SourceKey, _ size: PixelSize?, from source: LoadSource) -> PrefetchUse? {
        guard count.load(ordering: .relaxed) > 0 else { return nil }
        return images.withLock { images in
            guard let form = images.peek(key) else { return nil }
            var use = PrefetchUse.used
            if case .pixels(let prefetched) = form, prefetched != size {
                // In memory was the size that the load asked for, whoever put it there.
                guard source != .memory else { return nil }
                use = .otherSize(prefetched)
            }
            _ = images.remove(key)
            count.store(images.count, ordering: .relaxed)
            return use
        }
    }
}
