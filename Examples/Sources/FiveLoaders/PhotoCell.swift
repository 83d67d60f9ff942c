import FoundationEssentials
import Pipeline
import Stages

// A view that loads into itself, with a placeholder, as `UIImageView.setImage(from:placeholder:)` does.

/// A cell of a list: it is used again for one photograph after the other.
@MainActor
public final class PhotoCell {
    /// What the cell shows.
    public final class Picture {
        /// The image on the screen.
        public fileprivate(set) var image: DecodedImage?
    }

    /// What the cell shows.
    public let picture = Picture()
    private let slot: ImageSlot<Picture>
    private let placeholder = DecodedImage(size: 1, layout: .grey, pixels: [230])

    /// An empty cell.
    public init(loader: ImageLoader) {
        slot = ImageSlot(picture, loader: loader) { picture, image in picture.image = image }
    }

    /// Shows a photograph; the one before, if it is still loading, is cancelled and never shows.
    public func show(_ url: URL, completion: ((Result<ImageResponse, any Error>) -> Void)? = nil) {
        slot.set(from: url, placeholder: placeholder, completion: completion)
    }

    /// The cell has left the screen.
    public func prepareForReuse() {
        slot.cancel()
        picture.image = nil
    }
}
