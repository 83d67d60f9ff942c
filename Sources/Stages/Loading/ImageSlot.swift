public import Essentials
public import Pipeline

/// Shows one image after another in a target, such as a reused cell of a list, a widget or an element of a page.
///
/// ```swift
/// let slot = ImageSlot(cell, loader: loader) { cell, image in cell.picture = image }
/// slot.set(from: url, placeholder: grey)
/// ```
///
/// A slot belongs to its target's actor: call it there, and it calls back there. An image in memory is shown before
/// `set(from:)` returns. A load that was superseded or cancelled, or whose target is gone, never calls back, even if it
/// ends last. The target isn't retained.
public final class ImageSlot<Target: AnyObject> {
    /// Receives the result of a load; see `set(from:placeholder:options:isolation:completion:)`.
    public typealias Completion = (Result<ImageResponse, any Error>) -> Void

    private let delivery: ImageDelivery

    /// Makes a slot.
    /// - Parameters:
    ///   - target: The object that shows the images.
    ///   - loader: The loader of the images.
    ///   - cancelsPrevious: Whether a load is cancelled when another source is set or the slot is released; `true` by
    ///     default. Otherwise it continues unseen, and its image is in the caches when the source is set again.
    ///   - show: Shows an image in the target, or nothing for `nil`.
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

    /// Shows the image of a source. Supersedes the load under way.
    ///
    /// A stale image and previews are shown as they arrive.
    /// - Parameters:
    ///   - source: Where the image comes from.
    ///   - placeholder: Shown at once, unless the image is in memory. Without one the old image stays until the load
    ///     ends, and nothing is shown if it fails.
    ///   - options: The load's options; the loader's defaults if `nil`.
    ///   - isolation: The target's actor; by default the caller's.
    ///   - completion: Receives the load's result on the target's actor, unless the load was cancelled or superseded.
    public func set(
        from source: ImageSource, placeholder: DecodedImage? = nil, options: LoadOptions? = nil,
        isolation: isolated any Actor = #isolation, completion: Completion? = nil
    ) {
        delivery.begin(source, placeholder, options, isolation: isolation, completion)
    }

    /// Shows the image at a URL. Supersedes the load under way.
    /// - Parameters:
    ///   - url: An http, https, `file:` or `data:` URL.
    ///   - placeholder: Shown at once, unless the image is in memory. Without one the old image stays until the load
    ///     ends, and nothing is shown if it fails.
    ///   - options: The load's options; the loader's defaults if `nil`.
    ///   - isolation: The target's actor; by default the caller's.
    ///   - completion: Receives the load's result on the target's actor, unless the load was cancelled or superseded.
    public func set(
        from url: URL, placeholder: DecodedImage? = nil, options: LoadOptions? = nil,
        isolation: isolated any Actor = #isolation, completion: Completion? = nil
    ) {
        set(from: ImageSource(url), placeholder: placeholder, options: options, completion: completion)
    }

    /// Shows the image at a URL that a user typed. Supersedes the load under way.
    ///
    /// If the text isn't a URL, the placeholder is shown, or nothing without one, so that a reused slot never shows the
    /// image of another item. `completion` is called at once, with `invalidURL` or `unsupportedScheme`.
    /// - Parameters:
    ///   - text: A URL, or a file's path.
    ///   - placeholder: Shown at once, unless the image is in memory. Without one the old image stays until the load
    ///     ends, and nothing is shown if it fails.
    ///   - options: The load's options; the loader's defaults if `nil`.
    ///   - isolation: The target's actor; by default the caller's.
    ///   - completion: Receives the load's result on the target's actor, unless the load was cancelled or superseded.
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

    /// Cancels the load under way without a callback. The image stays as it is.
    public func cancel() { delivery.cancel() }
}
