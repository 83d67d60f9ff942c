#if GIF
import CImages
import LibC
import Pipeline

/// Encodes GIF. Of each frame of an animation, only the part that differs from the previous frame is written.
struct GIFEncoder: ImageEncoding {
    /// Pixels with at least this alpha are opaque; all others become fully transparent.
    static let threshold: Int32 = 128

    let defaults = EncodeOptions.GIF()
    let longestSide = 65_535
    let holdsMotion = true

    func fidelity(_ options: EncodeOptions.GIF) -> Fidelity { .fixed }

    func values(of options: EncodeOptions.GIF) -> [(name: String, value: String)] {
        [("colours", "\(options.colors)"), ("dither", "\(options.dither)"), ("effort", "\(options.effort)")]
    }

    func check(_ options: EncodeOptions.GIF) throws(LoadError) {
        try EncodeOptions.check("gif.colours", options.colors, 2...256)
        try EncodeOptions.check("gif.dither", options.dither, 0...1)
        try EncodeOptions.check("gif.effort", options.effort, 1...10)
    }

    func encode(
        _ image: DecodedImage, quality: Int, options: EncodeOptions.GIF, metadata: EmbeddedMetadata,
        cancellation: WorkCancellation
    ) throws -> [UInt8] {
        guard let memory = malloc(image.width * image.height) else { throw Palette.outOfMemory }
        defer { free(memory) }
        let frames = GIFFrames(image, options, indices: memory.assumingMemoryBound(to: UInt8.self))
        return image.isAnimated ? try animation(image, frames, cancellation) : try still(image, frames, cancellation)
    }

    private func still(
        _ image: DecodedImage, _ frames: GIFFrames, _ cancellation: WorkCancellation
    ) throws -> [UInt8] {
        let (palette, isPartlyClear) = try frames.draw(0, same: nil, cancellation)
        var file = GIFWriter(image.size, palette: palette, hasClear: isPartlyClear)
        try file.writeFrame(
            frames.indices, in: GIFWindow(all: image.size), clear: isPartlyClear ? palette.count : nil,
            isClearedAfterwards: false, delay: .zero, palette: palette, isGlobal: true, cancellation)
        file.end()
        return file.bytes
    }

    private func animation(
        _ image: DecodedImage, _ frames: GIFFrames, _ cancellation: WorkCancellation
    ) throws -> [UInt8] {
        let shown = try GIFShownFrame(of: image)
        var file: GIFWriter?
        for (number, frame) in image.frames.enumerated() {
            if number > 0 { try shown.compare(number, cancellation) }
            let (palette, _) = try frames.draw(number, same: number > 0 ? shown.same : nil, cancellation)
            let changed = try shown.show(frames.indices, palette, clear: palette.count, cancellation)
            let uncovered =
                number + 1 < image.frames.count ? try shown.uncovered(by: number + 1, cancellation) : nil
            // The first frame covers the canvas. A frame that changes nothing still needs a pixel, to be shown for its
            // time.
            let window =
                number == 0
                ? GIFWindow(all: image.size) : .around(changed, uncovered) ?? GIFWindow(all: PixelSize(square: 1))
            if uncovered != nil { try shown.clear(window, cancellation) }
            if file == nil {
                file = GIFWriter(image.size, palette: palette, hasClear: true)
                file?.writeLoops(image.loopCount)
            }
            // Readers take an animation whose first frame has no transparent colour for an opaque one.
            try file?.writeFrame(
                frames.indices, in: window, clear: number > 0 || image.layout.hasAlpha ? palette.count : nil,
                isClearedAfterwards: uncovered != nil, delay: frame.delay, palette: palette,
                isGlobal: palette === frames.global, cancellation)
        }
        file?.end()
        return file?.bytes ?? []
    }
}
#endif
