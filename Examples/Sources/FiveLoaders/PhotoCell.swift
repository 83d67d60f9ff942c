import FoundationEssentials
import Pipeline
import Stages

// A view that loads into itself, with a placeholder, as `UIImageView.setImage(from:placeholder:)` does.

/// A reused cell of a list, which shows one photograph after another.
@MainActor
public final class PhotoCell {
    /// The part of the cell that shows the image.
    public final class Picture {
        /// The image on the screen.
        public fileprivate(set) var image: DecodedImage?
    }

    /// The part of the cell that shows the image.
    public let picture = Picture()
    private let slot: ImageSlot<Picture>
    private let placeholder = DecodedImage(size: 1, layout: .gray, pixels: [230])

    /// Makes an empty cell.
    public init(loader: ImageLoader) {
        slot = ImageSlot(picture, loader: loader) { picture, image in picture.image = image }
    }

    /// Shows a photograph. If the previous one is still loading, it is cancelled and never shown.
    public func show(_ url: URL, completion: ((Result<ImageResponse, any Error>) -> Void)? = nil) {
        slot.set(from: url, placeholder: placeholder, completion: completion)
    }

    /// The cell has left the screen.
    public func prepareForReuse() {
        slot.cancel()
        picture.image = nil
    }
}
