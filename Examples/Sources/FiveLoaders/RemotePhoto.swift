import FoundationEssentials
import Pipeline
import Stages

// A view with options, policies and four states, as URLImage has.

/// A photograph on a page.
@MainActor
public final class RemotePhoto {
    private let model: ImageState

    /// Starts loading when it is shown, and stops when it is hidden. The image fits 120×120 pixels, and a request waits
    /// for 250 ms.
    public init(_ url: URL, loader: ImageLoader) {
        let options = LoadOptions(
            maxPixelSize: 120, policy: .returnCacheElseLoad(downloadDelay: .milliseconds(250)),
            expiry: .after(.seconds(3600)))
        model = ImageState(
            ImageSource(url), loader: loader, options: options, beginning: .whenShown, cancelsWhenHidden: true)
    }

    /// The view has come to the screen.
    public func appear() { model.shown() }

    /// The view has left the screen.
    public func disappear() { model.hidden() }

    /// What the view shows now.
    public var text: String {
        switch model.state {
        case .empty: "nothing"
        case .inProgress(let fraction): fraction.map { "\(Int($0 * 100)) %" } ?? "loading"
        case .failure(let error, _): "failed: \(error.code.rawValue)"
        case .success(let response): "\(response.image.size)"
        }
    }

    /// The button that shows after a failure.
    public func tapRetry() {
        if case .failure(_, let retry) = model.state { retry() }
    }
}
