#if PNG
import Pipeline

/// The frames of an animated PNG, as its chunks list them (PNG, third edition, section 11.3.6). The list ends before
/// the first fault.
///
/// The still picture is the first frame only if a control chunk precedes its pixels.
struct PNGAnimation {
    private(set) var frames: [PNGFrame] = []
    /// How often it plays; 0 means forever.
    private(set) var plays = 0
    /// Why the list ends before the number of frames that the file declares; `nil` if it is complete.
    private(set) var fault: String?
    private let canvas: PixelSize
    /// The number of frames that the file declares; `nil` for a still picture.
    private var declared: Int?
    /// The number of the next chunk.
    private var sequence = 0

    init(_ canvas: PixelSize) { self.canvas = canvas }

    /// Takes the number of frames and of plays. Only the first chunk counts.
    mutating func takeNumbers(_ fields: ArraySlice<UInt8>, fileLength: Int) {
        guard declared == nil, fields.count == 8, let frames = fields.number(at: 0, bytes: 4),
            let plays = fields.number(at: 4, bytes: 4)
        else { return }
        // More frames than the file has bytes are an invalid number. The file may be cut off.
        guard (1...max(65_536, fileLength)).contains(frames) else { return }
        declared = frames
        self.plays = min(plays, 0x7fff_ffff)
    }

    /// Takes a control chunk, which begins a frame.
    /// - Parameters:
    ///   - isWhole: Whether the chunk's checksum is correct.
    ///   - isPicture: Whether the still picture's pixels follow.
    mutating func takeFrame(_ fields: ArraySlice<UInt8>, isWhole: Bool, isPicture: Bool) {
        guard fault == nil else { return }
        guard fields.number(at: 0, bytes: 4) == sequence else { return fail("its frames are out of order") }
        guard isWhole, !isPicture || frames.isEmpty,
            var frame = PNGFrame(fields, isPicture: isPicture, canvas: canvas)
        else { return fail("frame \(frames.count + 1) makes no sense") }
        guard hasPixels else { return fail("a frame has no pixels") }
        // Nothing precedes the first frame.
        if frames.isEmpty, frame.disposal == .isTakenBack { frame.disposal = .isCleared }
        frames.append(frame)
        sequence += 1
    }

    /// Takes a piece of the current frame's pixels.
    mutating func takePixels(_ chunk: PNGChunk, _ body: ArraySlice<UInt8>) {
        guard fault == nil else { return }
        guard body.number(at: 0, bytes: 4) == sequence, frames.last?.isPicture == false else {
            return fail("its frames are out of order")
        }
        frames[frames.count - 1].pieces.append(chunk)
        sequence += 1
    }

    /// Compares the list with the declared number once all chunks are taken.
    mutating func close() {
        guard let declared else {
            frames = []
            return fault = nil
        }
        if !hasPixels {
            fail("a frame has no pixels")
            frames.removeLast()
        }
        if frames.count >= declared {
            frames.removeLast(frames.count - declared)
            fault = nil
        } else {
            fail("it has \(frames.count) of \(declared) frames")
        }
    }

    /// Whether the last frame, if there is one, has pixels.
    private var hasPixels: Bool { frames.last.map { $0.isPicture || !$0.pieces.isEmpty } ?? true }

    private mutating func fail(_ reason: String) { fault = fault ?? reason }

    /// Whether each frame covers all pixels of the canvas, if the frames themselves are opaque.
    var coversCanvas: Bool {
        frames.first.map { $0.size == canvas } ?? true && !frames.dropLast().contains { $0.disposal == .isCleared }
    }

    /// The memory of the lists.
    var listLength: Int {
        frames.reduce(0) { $0 + MemoryLayout<PNGFrame>.stride + $1.pieces.count * MemoryLayout<PNGChunk>.stride }
    }
}
#endif
