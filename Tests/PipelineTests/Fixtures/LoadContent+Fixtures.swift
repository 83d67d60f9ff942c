import Pipeline
import PipelineTesting

extension LoadContent {
    /// The bytes of a file that no decoder will see.
    static func original(_ count: Int = 3) -> LoadContent {
        .original(EncodedImage(bytes: Array(repeating: 7, count: count)))
    }

    /// The bytes of a result.
    static func encoded(_ count: Int) -> LoadContent {
        .encoded(EncodedImage(bytes: Array(repeating: 9, count: count)))
    }

    /// Grey pixels.
    static func decoded(_ size: PixelSize = 2) -> LoadContent { .decoded(.filled(size, with: [128])) }

    /// A final response in grey pixels.
    static func ready(_ size: PixelSize = 2) -> LoadContent { .ready(.image(.filled(size, with: [128]))) }
}
