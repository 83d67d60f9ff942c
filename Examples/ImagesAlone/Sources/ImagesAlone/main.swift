import Foundation
import PipelineImages

// Makes a thumbnail of at most 300×300 pixels of a JPEG: ImagesAlone FILE THUMBNAIL
guard CommandLine.arguments.count == 3 else {
    print("Usage: ImagesAlone FILE THUMBNAIL")
    exit(2)
}
let thumbnails = ImagePipeline {
    ReadFile()
    Decode()
    Downscale()
    Encode(.jpeg)
}
let request = ImageRequest(
    try ImageSource(parsing: CommandLine.arguments[1]), maxPixelSize: PixelSize(width: 300, height: 300))
guard let thumbnail = try await thumbnails.load(request).encoded else { exit(1) }
try Data(thumbnail.bytes).write(to: URL(filePath: CommandLine.arguments[2]))
print("\(thumbnail.bytes.count) bytes")
