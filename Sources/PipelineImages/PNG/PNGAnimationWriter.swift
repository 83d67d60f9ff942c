#if PNG
import Pipeline

/// Writes the chunks of an animated PNG (PNG, third edition, section 11.3.6).
struct PNGAnimationWriter {
    private var file: PNGWriter
    /// The number of the next chunk.
    private var sequence = 0

    /// Continues a file with the numbers of frames and plays. Its palette and first frame are still to come.
    /// - Parameter plays: How often it plays; 0 means forever.
    init(_ file: PNGWriter, frames: Int, plays: Int) {
        self.file = file
        self.file.writeChunk("acTL", frames.bigEndian(4) + min(0x7fff_ffff, max(0, plays)).bigEndian(4))
    }

    /// Writes the palette that all frames share.
    mutating func write(_ palette: Palette) { file.write(palette) }

    /// Writes a frame, which replaces a part of the picture. The first one is the whole picture, and also what programs
    /// show that don't read animations.
    /// - Parameter stream: The compressed rows.
    mutating func writeFrame(_ stream: [UInt8], in region: PixelRegion, delay: Duration) {
        let isFirst = sequence == 0
        let place = [region.size.width, region.size.height, region.x, region.y]
        let (parts, second) = Self.fraction(delay)
        let numbers = parts.bigEndian(2) + second.bigEndian(2)
        // The frame stays until the next one is drawn, and isn't blended.
        file.writeChunk("fcTL", takeNumber() + place.flatMap { $0.bigEndian(4) } + numbers + [0, 0])
        if isFirst { return file.writePixels(stream) }
        for start in stride(from: 0, to: stream.count, by: PNGWriter.longestChunk) {
            let part = stream[start..<min(stream.count, start + PNGWriter.longestChunk)]
            file.writeChunk("fdAT", takeNumber() + part)
        }
    }

    /// Ends the file.
    mutating func end() -> [UInt8] { file.end() }

    private mutating func takeNumber() -> [UInt8] {
        defer { sequence += 1 }
        return sequence.bigEndian(4)
    }

    /// A delay as a fraction of seconds, in the finest unit in which it fits 16 bits. The longest is 18 hours.
    static func fraction(_ delay: Duration) -> (parts: Int, second: Int) {
        let milliseconds = Int(max(0, delay.milliseconds))
        let second = [1000, 100, 10].first { milliseconds / (1000 / $0) <= 65_535 } ?? 1
        return (min(65_535, milliseconds / (1000 / second)), second)
    }
}
#endif
