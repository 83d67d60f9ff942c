import Foundation
import PipelineImages

// Prints how many bytes a file has as a WebP thumbnail of at most 300×300 pixels: ImagesAlone FILE
guard CommandLine.arguments.count == 2 else {
    print("Usage: ImagesAlone FILE")
    exit(2)
}
let thumbnails = ImagePipeline {
    ReadFile()
    Decode()
    Downscale()
    Encode(.webp)
}
let request = ImageRequest(
    try ImageSource(parsing: CommandLine.arguments[1]), maxPixelSize: PixelSize(width: 300, height: 300))
print("\(try await thumbnails.load(request).product.cost) bytes")
