import Foundation
import Stages

// A whole program whose images are decoded in confined processes. It has no helper: it starts itself again.

let arguments = CommandLine.arguments
guard arguments.count == 3 else {
    print("usage: Confined FILE THUMBNAIL")
    exit(64)
}
do {
    let loader = try ImageLoader(isolation: .required)
    let list = loader.pipeline(for: .standard).encoding(Encode(.webp), keptIn: loader.resources.responses)
    let request = ImageRequest(.file(arguments[1]), maxPixelSize: 200)
    let thumbnail = try await loader.load(request, through: list).encoded
    try Data(thumbnail?.bytes ?? []).write(to: URL(filePath: arguments[2]))
    print("\(thumbnail?.size, default: "no picture"), decoded in a confined process")
} catch {
    print("\(error)")
    exit(1)
}
