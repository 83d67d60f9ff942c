#if PNG
import Pipeline

/// Decodes the first frames of an animated PNG one at a time, each drawn on the previous ones.
struct PNGFrames {
    let file: PNGFile
    let scaling: CanvasScaling
    /// Whether a damaged file yields the frames before the damage.
    let allowTruncated: Bool

    func frames(count: Int, cancellation: WorkCancellation) throws -> [DecodedImage.Frame] {
        guard let canvas = AnimationCanvas(size: file.size, channels: scaling.layout.channelCount) else {
            throw PNGFile.damaged("out of memory")
        }
        var frames: [DecodedImage.Frame] = []
        for frame in file.animation.frames.prefix(count) {
            try cancellation.check()
            let pixels: [UInt8]
            do {
                pixels = try self.pixels(of: frame, allowTruncated: allowTruncated && frames.isEmpty, cancellation)
            } catch let error as LoadError {
                guard error.code == .undecodable, allowTruncated, !frames.isEmpty else { throw error }
                break
            }
            let place = canvas.place(of: frame)
            let covered = frame.disposal == .isTakenBack ? try canvas.bytes(of: place, cancellation) : []
            if frame.isBlended, scaling.layout.hasAlpha {
                try canvas.blend(pixels, over: place, cancellation)
            } else {
                try canvas.put(pixels, width: place.width, in: place, cancellation)
            }
            frames.append(
                DecodedImage.Frame(pixels: try scaling.scaled(canvas.pixels, cancellation), delay: frame.delay))
            switch frame.disposal {
            case .stays: break
            case .isCleared: try canvas.fill(place, with: [0, 0, 0, 0], cancellation)
            case .isTakenBack: try canvas.put(covered, width: place.width, in: place, cancellation)
            }
        }
        return frames
    }

    /// Decodes a frame alone, as the still picture that it is, in the canvas's layout.
    private func pixels(
        of frame: PNGFrame, allowTruncated: Bool, _ cancellation: WorkCancellation
    ) throws -> [UInt8] {
        let image = try PNGDecoder().decode(
            try file.still(of: frame, allowDamage: allowTruncated, cancellation),
            header: ImageHeader(format: .png, storedSize: frame.size), box: nil,
            options: DecodeOptions(allowTruncated: allowTruncated), cancellation: cancellation)
        let drawn =
            switch scaling.layout.channelCount {
            case 4: try image.withAlpha(cancellation)
            case 3: try image.withColor(cancellation)
            default: image
            }
        guard drawn.layout == scaling.layout, drawn.size == frame.size else {
            throw PNGFile.damaged("a frame's colours make no sense")
        }
        return drawn.frames[0].bytes
    }
}

extension PNGFile {
    /// Whether a pixel of the picture, or of a frame, may be transparent.
    var hasAlpha: Bool {
        color == .rgba || color == .grayAlpha || transparency != nil
            || animation.frames.count > 1 && !animation.coversCanvas
    }

    /// The layout in which an animation is drawn.
    var canvasLayout: PixelLayout { hasAlpha ? .rgba : color == .gray ? .gray : .rgb }

    /// The memory of drawing an animation, besides that of one picture: the canvas, a frame before and after its
    /// conversion to the canvas's layout, what it covers, and its compressed pixels; 0 for a still picture.
    var animationMemory: Int {
        guard animation.frames.count > 1 else { return 0 }
        let longest = animation.frames.reduce(0) { max($0, $1.compressedLength) }
        return size.bytes(16).saturatingPlus(3 * longest)
    }

    /// Returns the file of a still picture that shows a frame alone, without any metadata.
    /// - Parameter allowDamage: Whether checksums of the frame's pixels may be wrong.
    /// - Throws: `LoadError.Code.undecodable` for a damaged frame; `CancellationError`.
    func still(of frame: PNGFrame, allowDamage: Bool, _ cancellation: WorkCancellation) throws -> [UInt8] {
        if frame.isPicture { return try pixelsAlone(cancellation) }
        var file = PNGWriter()
        file.writeChunk(
            "IHDR", frame.size.width.bigEndian(4) + frame.size.height.bigEndian(4) + bytes[headerFields].dropFirst(8))
        for chunk in [paletteChunk, transparencyChunk] {
            if let chunk { file.writeChunk(chunk.letters, bytes[chunk.body]) }
        }
        for piece in frame.pieces {
            guard allowDamage || piece.isWhole(in: bytes) else { throw Self.damaged("a frame's checksum is wrong") }
            // One chunk may hold all pixels.
            let body = bytes[piece.body].dropFirst(4)
            for start in stride(from: body.startIndex, to: body.endIndex, by: 1 << 20) {
                try cancellation.check()
                file.writeChunk("IDAT", body[start..<min(body.endIndex, start + 1 << 20)])
            }
        }
        return file.end()
    }
}
#endif
