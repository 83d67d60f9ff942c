import Pipeline

/// Describes a scaling: source, target and the steps between.
struct ResamplePlan {
    /// The size of the incoming rows.
    let source: PixelSize
    /// How much of the source the picture covers, in source pixels: less than `source` if the last pixel is partial.
    var extent: (width: Double, height: Double)
    /// Where the picture begins in the source: a fraction of a pixel if the first one is partial.
    var origin = (x: 0.0, y: 0.0)
    /// The size of the result.
    let target: PixelSize
    /// The side of the blocks that are averaged before the kernel runs, 1 to 255; 1 for none.
    var block = 1
    /// How much earlier scaling has blurred the source; see ``ResampleKernel``.
    var blur = 0.0

    /// Plans to scale a whole picture. Block means are cheaper than the kernel but worse, so they leave at least
    /// `reserve` times the target's size to the kernel.
    init(from source: PixelSize, to target: PixelSize, reserve: Double) {
        self.source = source
        self.target = target
        extent = (Double(source.width), Double(source.height))
        setBlock(reserve: reserve)
    }

    /// The size after averaging blocks.
    var reducedSize: PixelSize {
        PixelSize(width: (source.width - 1) / block + 1, height: (source.height - 1) / block + 1)
    }

    /// Chooses the side of the blocks.
    mutating func setBlock(reserve: Double) {
        let excess = min(extent.width / Double(target.width), extent.height / Double(target.height))
        block = Int(min(255, max(1, excess / reserve)))
    }

    /// The bytes that scaling holds besides the resulting picture: weights, and the rows that they reach.
    func memory(channels: Int) -> Int {
        let size = reducedSize
        func taps(_ extent: Double, _ target: Int) -> Int {
            ResampleKernel.taps(scale: extent / Double(block) / Double(max(1, target)), isSharpened: true)
        }
        let (across, down) = (taps(extent.width, target.width), taps(extent.height, target.height))
        let weights = target.width.saturatingTimes(2 * across + 4)
            .saturatingPlus(target.height.saturatingTimes(2 * down + 4))
        // The rows of samples, one after the vertical pass, the same in pairs, and sums of blocks.
        let row = size.width.saturatingPlus(across).saturatingTimes(2 * channels)
        return weights.saturatingPlus(row.saturatingTimes(min(size.height, down) + 3))
            .saturatingPlus(block > 1 ? source.width.saturatingTimes(16) : 0)
    }
}
