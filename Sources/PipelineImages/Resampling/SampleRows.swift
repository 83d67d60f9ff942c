import CImages

/// Rows of 16-bit samples, of which the last few are kept: what a kernel reaches at a time.
final class SampleRows {
    /// Samples in a row, a multiple of what the inner loops take at a time.
    let length: Int
    private let count: Int
    private let samples: UnsafeMutablePointer<Int16>

    /// Makes room for `count` rows of `width` pixels, and behind each for what the inner loops read too far.
    init(count: Int, width: Int, channels: Int, slack: Int) {
        let lanes = cresample_lanes
        length = ((width + slack) * channels + 8 + lanes - 1) / lanes * lanes
        self.count = count
        samples = .allocate(capacity: length * count)
        samples.initialize(repeating: 0, count: length * count)
    }

    deinit { samples.deallocate() }

    /// The place of a row, which it shares with the one `count` rows before it.
    func row(_ index: Int) -> UnsafeMutablePointer<Int16> { samples + index % count * length }
}
