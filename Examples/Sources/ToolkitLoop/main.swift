import Foundation
import Stages

// Shows a file in a program whose main thread runs a toolkit's loop, as GTK's and Qt's do: ToolkitLoop FILE

/// Runs the jobs that wait for the main actor. A timer of the toolkit's loop calls it every few milliseconds.
func runMainActor() {
    _ = RunLoop.main.run(mode: .default, before: .distantPast)
}

/// A widget that shows pixels, such as a GtkPicture or a QLabel.
@MainActor
final class Widget {
    var shown = ""

    /// Shows an image, or nothing.
    func show(_ image: DecodedImage?) {
        guard let image, let pixels = try? rgba(image) else { return shown = "" }
        // gdk_memory_texture_new(width, height, GDK_MEMORY_R8G8B8A8, bytes, 4 * width), or
        // QImage(data, width, height, 4 * width, QImage::Format_RGBA8888).
        shown = "\(image.size) in \(pixels.count) bytes"
    }
}

/// The first frame as toolkits take it: red, green, blue and alpha, a byte each, not premultiplied, rows without padding.
func rgba(_ image: DecodedImage) throws -> [UInt8] {
    let (count, hasAlpha) = (image.layout.channelCount, image.layout.hasAlpha)
    return try image.withPixels { pixels in
        stride(from: 0, to: pixels.count, by: count).flatMap { place in
            let colors = (0..<3).map { pixels[place + (count < 3 ? 0 : $0)] }
            return colors + [hasAlpha ? pixels[place + count - 1] : 255]
        }
    }
}

let widget = Widget()
let loader = try ImageLoader()
let slot = ImageSlot(widget, loader: loader) { widget, image in widget.show(image) }
var isDone = false
slot.set(from: URL(filePath: CommandLine.arguments[1]), options: LoadOptions(maxPixelSize: 64)) { _ in isDone = true }
// The toolkit's loop, with the timer in it.
while !isDone {
    runMainActor()
    usleep(2000)
}
print(widget.shown)
