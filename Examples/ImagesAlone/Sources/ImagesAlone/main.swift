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
do {
    let request = ImageRequest(
        try ImageSource(parsing: CommandLine.arguments[1]), maxPixelSize: PixelSize(width: 300, height: 300))
    let bytes = try await thumbnails.load(request).encoded?.bytes ?? []
    try Data(bytes).write(to: URL(filePath: CommandLine.arguments[2]))
    print("\(bytes.count) bytes")
} catch {
    print(error)
    exit(1)
}
