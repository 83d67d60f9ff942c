#if PNG
import CImages
import Pipeline

/// Reads the samples of a PNG with 16 bits a sample (ISO/IEC 15948 clause 7.2) as they are.
struct PNGDeepRows {
    /// Grey, RGB or RGBA; grey with alpha becomes RGBA.
    let layout: PixelLayout
    private let file: PNGFile
    private let length: Int

    /// The most bytes that are inflated, in one go that can't be stopped.
    private static let longestInflation = 256 << 20

    /// Whether a file's samples can be read.
    static func canRead(_ file: PNGFile) -> Bool {
        file.depth == 16 && !file.isInterlaced && file.transparency == nil
            && (file.inflatedLength ?? .max) <= longestInflation
    }

    /// Returns `nil` for a file whose samples can't be read.
    init?(_ file: PNGFile) {
        guard Self.canRead(file), let length = file.inflatedLength else { return nil }
        self.file = file
        self.length = length
        layout = (file.color == .gray ? PixelLayout.gray : file.color == .rgb ? .rgb : .rgba).with(.uint16)
    }

    /// The samples of a part, each in the order of the machine; `nil` if the pixels are damaged.
    /// - Throws: `CancellationError`.
    func samples(of part: PixelRegion, _ cancellation: WorkCancellation) throws -> [UInt8]? {
        let inflated = UnsafeMutableRawBufferPointer.allocate(byteCount: length, alignment: 16)
        defer { inflated.deallocate() }
        try cancellation.check()
        guard Inflation.inflate(file.stream, into: inflated) == length,
            let start = inflated.baseAddress?.assumingMemoryBound(to: UInt8.self)
        else { return nil }
        let nothing = [UInt8](repeating: 0, count: file.rowLength)
        let (step, stored) = (file.rowLength + 1, file.pixelLength)
        var samples: [UInt8] = []
        samples.reserveCapacity(part.size.bytes(layout.bytesPerPixel))
        for y in 0..<part.bottom {
            if y % 32 == 0 { try cancellation.check() }
            let row = start + y * step + 1
            let isRead = nothing.withUnsafeBufferPointer { nothing in
                nothing.baseAddress.map {
                    cpng_unfilter(Int32(row[-1]), row, y == 0 ? $0 : UnsafePointer(row - step), file.rowLength, stored)
                }
            }
            guard isRead == true else { return nil }
            guard y >= part.y else { continue }
            for x in part.x..<part.right { append(row + x * stored, to: &samples) }
        }
        return samples
    }

    private func append(_ pixel: UnsafePointer<UInt8>, to samples: inout [UInt8]) {
        let places = file.color == .grayAlpha ? [0, 0, 0, 1] : Array(0..<file.color.samples)
        for place in places {
            let level = UInt16(pixel[2 * place]) << 8 | UInt16(pixel[2 * place + 1])
            withUnsafeBytes(of: level) { samples.append(contentsOf: $0) }
        }
    }
}
#endif
