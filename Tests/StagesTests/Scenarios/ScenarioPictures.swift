import Pipeline
import PipelineTesting

/// Pictures of one pixel with a label on them: the label is told by the file's bytes and by the pixel.
final class ScenarioPictures: Sendable {
    private struct State {
        var files: [String: [UInt8]] = [:]
        var labelsByFile: [[UInt8]: String] = [:]
        var labelsByPixel: [[UInt8]: String] = [:]
    }

    private let state = Lock(State())

    /// The file of a label; every label has a pixel of its own.
    func file(_ label: String) -> [UInt8] {
        state.withLock { state in
            if let file = state.files[label] { return file }
            let number = state.files.count + 1
            let pixel = [UInt8(number >> 16 & 255), UInt8(number >> 8 & 255), UInt8(number & 255)]
            let file = Picture.png(1, with: pixel)
            state.files[label] = file
            state.labelsByFile[file] = label
            state.labelsByPixel[pixel] = label
            return file
        }
    }

    func label(ofFile bytes: [UInt8]) -> String { state.withLock { $0.labelsByFile[bytes] } ?? "another picture" }

    func label(ofPixels pixels: some Sequence<UInt8>) -> String {
        let pixel = Array(pixels.prefix(3))
        return state.withLock { $0.labelsByPixel[pixel] } ?? "another pixel \(pixel)"
    }
}
