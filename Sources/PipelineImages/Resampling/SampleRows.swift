import CImages

/// The last few rows of 16-bit samples, as many as a kernel reaches.
final class SampleRows {
    /// The samples of a row, a multiple of what the inner loops take at a time.
    let length: Int
    private let count: Int
    private let samples: UnsafeMutablePointer<Int16>

    /// Allocates `count` rows of `width` pixels, each padded for the inner loops, which read past the end.
    init(count: Int, width: Int, channels: Int, slack: Int) {
        let lanes = cresample_lanes
        length = ((width + slack) * channels + 8 + lanes - 1) / lanes * lanes
        self.count = count
        samples = .allocate(capacity: length * count)
        samples.initialize(repeating: 0, count: length * count)
    }

    deinit { samples.deallocate() }

    /// Returns the memory of a row, which is that of the row `count` rows before.
    func row(_ index: Int) -> UnsafeMutablePointer<Int16> { samples + index % count * length }
}
