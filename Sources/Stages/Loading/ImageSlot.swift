public import FoundationEssentials
public import Pipeline

/// A place that shows one image after another, such as a cell of a list that is used again, a widget, or an element of a
/// page.
///
/// ```swift
/// let slot = ImageSlot(cell, loader: loader) { cell, image in cell.picture = image }
/// slot.set(from: url, placeholder: grey)
/// ```
///
/// It belongs to the actor of its target: there it is called, and there it calls back. An image in memory is shown
/// before `set(from:)` returns. What was superseded or
/// cancelled, or whose target is gone, never calls back: each load is told by its identity, not by when it ends. The
/// target is not kept alive.
public final class ImageSlot<Target: AnyObject> {
    /// What a load has come to; see `set(from:placeholder:options:isolation:completion:)`.
    public typealias Completion = (Result<ImageResponse, any Error>) -> Void

    private let delivery: ImageDelivery

    /// Describes a slot.
    /// - Parameters:
    ///   - target: what shows the images.
    ///   - loader: what loads them.
    ///   - cancelsPrevious: whether a load ends when another source is set, or the slot goes; by default it does. Otherwise
    ///     it continues unseen, and its image is in the caches when the source is set again.
    ///   - show: shows an image in the target; nothing for `nil`.
    public init(
        _ target: Target, loader: ImageLoader, cancelsPrevious: Bool = true,
        show: @escaping (Target, DecodedImage?) -> Void
    ) {
        delivery = ImageDelivery(loader, cancelsPrevious: cancelsPrevious) { [weak target] change in
            guard let target else { return false }
            switch change {
            case .image(let image): show(target, image)
            case .nothing: show(target, nil)
            case .same: break
            }
            return true
        }
    }

    /// Whether a load is under way.
    public var isLoading: Bool { delivery.task != nil }

    /// Shows the image of a source, in place of whatever was being loaded.
    ///
    /// A stale image, and previews, are shown as they come.
    /// - Parameters:
    ///   - source: where the image comes from.
    ///   - placeholder: is shown at once, unless the image is in memory; without one the old image stays until
    ///     the load ends, and nothing is shown if it fails.
    ///   - options: how this load differs; the loader's defaults if `nil`.
    ///   - isolation: the target's actor; the caller's own.
    ///   - completion: is told how the load ended, on the target's actor, unless it was cancelled or superseded.
    public func set(
        from source: ImageSource, placeholder: DecodedImage? = nil, options: LoadOptions? = nil,
        isolation: isolated any Actor = #isolation, completion: Completion? = nil
    ) {
        delivery.begin(source, placeholder, options, isolation: isolation, completion)
    }

    /// Shows the image at a URL, in place of whatever was being loaded.
    /// - Parameters:
    ///   - url: an http, https, `file:` or `data:` URL.
    ///   - placeholder: is shown at once, unless the image is in memory; without one the old image stays until
    ///     the load ends, and nothing is shown if it fails.
    ///   - options: how this load differs; the loader's defaults if `nil`.
    ///   - isolation: the target's actor; the caller's own.
    ///   - completion: is told how the load ended, on the target's actor, unless it was cancelled or superseded.
    public func set(
        from url: URL, placeholder: DecodedImage? = nil, options: LoadOptions? = nil,
        isolation: isolated any Actor = #isolation, completion: Completion? = nil
    ) {
        set(from: ImageSource(url), placeholder: placeholder, options: options, completion: completion)
    }

    /// Shows the image at a URL that a user typed, in place of whatever was being loaded.
    ///
    /// A text that isn't a URL shows the placeholder, or nothing without one, so that a reused slot never shows the image of
    /// another item. `completion` is told at once, with `invalidURL` or `unsupportedScheme`.
    /// - Parameters:
    ///   - text: a URL, or a file's path.
    ///   - placeholder: is shown at once, unless the image is in memory; without one the old image stays until
    ///     the load ends, and nothing is shown if it fails.
    ///   - options: how this load differs; the loader's defaults if `nil`.
    ///   - isolation: the target's actor; the caller's own.
    ///   - completion: is told how the load ended, on the target's actor, unless it was cancelled or superseded.
    public func set(
        from text: String, placeholder: DecodedImage? = nil, options: LoadOptions? = nil,
        isolation: isolated any Actor = #isolation, completion: Completion? = nil
    ) {
        do throws(LoadError) {
            let source = try ImageSource(parsing: text)
            set(from: source, placeholder: placeholder, options: options, completion: completion)
        } catch {
            delivery.refuse(error, placeholder, completion)
        }
    }

    /// Ends the load under way, without a callback; the image stays as it is.
    public func cancel() { delivery.cancel() }
}
