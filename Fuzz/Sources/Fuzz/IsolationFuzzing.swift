import Glibc
import Pipeline
import PipelineImages

@testable import PipelineIsolation

/// Reads what a worker may write: a message, and its slab.
enum IsolationFuzzing {
    private static let slab: Slab? = {
        guard let file = tmpfile() else { return nil }
        let count = 1 << 16
        guard ftruncate(fileno(file), count) == 0 else { return nil }
        return try? Slab(memory: fileno(file), count: count, isWritable: true)
    }()

    /// The first bytes are the message, the others the beginning of the slab.
    static func read(_ bytes: [UInt8]) {
        guard let slab else { return }
        var message = Message(kind: 0)
        let count = min(bytes.count, MemoryLayout<Message>.size)
        withUnsafeMutableBytes(of: &message) { $0.copyBytes(from: bytes[..<count]) }
        slab.bytes.copyBytes(from: bytes[count...].prefix(slab.count))
        let formats = [ImageFormat.jpeg, .png, .gif]
        var numbers = message.reader
        if let header = try? numbers.nextHeader(formats, of: 2, fileBytes: bytes.count) {
            var rest = numbers
            if let image = try? rest.nextImage(of: header, box: nil, frames: 100, in: slab) {
                precondition(image.byteCount <= slab.count, "a picture beyond the slab")
                precondition(image.region == header.region, "a picture of another region")
            }
        }
        var header = ImageHeader(format: .gif, storedSize: PixelSize(square: 100))
        header.frames = 100
        var picture = message.reader
        if let image = try? picture.nextImage(of: header, box: nil, frames: 100, in: slab) {
            precondition(image.size.width <= 100 && image.size.height <= 100 && image.frames.count <= 100)
        }
        var blocks = SlabReader(slab, message.reader)
        _ = try? blocks.metadata(fileBytes: bytes.count)
        var error = SlabReader(slab, message.reader)
        if let error = try? error.error() {
            precondition(!error.message.unicodeScalars.contains { $0.value < 0x20 }, "a control character passed")
        }
        var description = SlabReader(slab, message.reader)
        _ = try? description.description(formats, of: 2, byteCount: bytes.count)
    }
}
