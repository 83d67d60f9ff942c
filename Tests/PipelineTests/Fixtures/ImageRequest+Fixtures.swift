import Essentials
import Pipeline
import Testing

extension ImageRequest {
    /// Asks for the image at the URL that `text` is.
    static func at(_ text: String = "https://example.com/cat.jpg") throws -> ImageRequest {
        ImageRequest(try #require(URL(string: text)))
    }
}
