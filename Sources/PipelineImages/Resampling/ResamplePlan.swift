import Pipeline

/// From which pixels to which.
struct ResamplePlan {
    /// The rows that come in.
    let source: PixelSize
    /// How much of them the picture covers, in their pixels: less than `source` where the last pixel is not whole.
    var extent: (width: Double, height: Double)
    /// Where in them the picture begins: less than a pixel from the first one where that is not whole.
    var origin = (x: 0.0, y: 0.0)
    /// What is to come out.
    let target: PixelSize
    /// The side of the blocks whose means are taken before the kernel, 1 to 255; 1 for none.
    var block = 1
    /// How much the source has been blurred already; see ``ResampleKernel``.
    var blur = 0.0

    /// Plans to scale a whole picture, leaving the kernel at least `reserve` times the target's size in hand: means of
    /// blocks are cheaper than the kernel and not as good.
    init(from source: PixelSize, to target: PixelSize, reserve: Double) {
        self.source = source
        self.target = target
        extent = (Double(source.width), Double(source.height))
        setBlock(reserve: reserve)
    }

    /// The size after means have been taken.
    var reducedSize: PixelSize {
        PixelSize(width: (source.width - 1) / block + 1, height: (source.height - 1) / block + 1)
    }

    /// Chooses the side of the blocks.
    mutating func setBlock(reserve: Double) {
        let excess = min(extent.width / Double(target.width), extent.height / Double(target.height))
        block = Int(min(255, max(1, excess / reserve)))
    }

    /// The bytes that scaling holds besides the picture that comes out: weights, and the rows that they reach.
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
