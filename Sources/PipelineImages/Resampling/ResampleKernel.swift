import LibC
import Pipeline

/// The weights of a kernel along one axis, most often Lanczos-3. For each pixel of the result, they say how much each
/// source pixel contributes.
///
/// If the source has been reduced already, each of its pixels is a mean, which blurs the picture a little. The kernel
/// corrects for it by subtracting a fraction of each pixel's neighbours, which gains about one decibel.
struct ResampleKernel {
    /// The first source pixel of each pixel of the result.
    let starts: [Int32]
    /// `taps` weights for each pixel of the result, in units of 1/16384. They add up to exactly 1, so that a constant
    /// picture stays constant.
    let weights: [Int16]
    /// The number of weights of each pixel of the result, a multiple of four. Weights past the source's end are zero.
    let taps: Int

    /// Makes a Lanczos-3 kernel.
    /// - Parameters:
    ///   - count: The number of source pixels.
    ///   - origin: Where the picture begins, in source pixels.
    ///   - extent: How many source pixels the picture covers. It is a little less than `count` if the last one is
    ///     partial.
    ///   - target: The number of pixels of the result.
    ///   - blur: The variance of the averaging that made the source, in its own pixels: 1/12 for means of blocks.
    ///   - cancellation: Checked every 65,536 weights.
    /// - Throws: `CancellationError`.
    init(
        count: Int, origin: Double = 0, extent: Double, target: Int, blur: Double, cancellation: WorkCancellation
    ) throws {
        let scale = extent / Double(target)
        // The kernel is never narrower than a source pixel, so that enlarging interpolates.
        let width = max(1, scale)
        let correction = scale > 1 ? blur / 2 : 0
        let reach = 3 * width + (correction > 0 ? 1 : 0)
        let taps = Self.taps(scale: scale, isSharpened: correction > 0)
        var curve = LanczosCurve(step: 1 / width, count: taps + 2)
        var starts: [Int32] = []
        var weights = [Int16](repeating: 0, count: target * taps)
        var row = [Double](repeating: 0, count: taps)
        starts.reserveCapacity(target)
        for index in 0..<target {
            if index * taps % 65_536 < taps { try cancellation.check() }
            let center = origin + (Double(index) + 0.5) * scale
            let start = max(0, Int((center - reach).rounded(.down))) & ~1
            let end = min(count, Int((center + reach).rounded(.up)), start + taps)
            // One more value at both ends, since each weight needs its neighbours.
            curve.trace(from: Double(start) - 0.5 - center)
            for tap in 0..<end - start {
                let neighbours = curve.values[tap] + curve.values[tap + 2]
                row[tap] = (1 + 2 * correction) * curve.values[tap + 1] - correction * neighbours
            }
            starts.append(Int32(start))
            Self.quantise(row[..<(end - start)], into: &weights, at: index * taps)
        }
        self.starts = starts
        self.weights = weights
        self.taps = taps
    }

    /// Returns how many weights a Lanczos-3 kernel needs for a pixel made from `scale` pixels. The inner loops take
    /// four at a time and begin at even pixels.
    static func taps(scale: Double, isSharpened: Bool) -> Int {
        let reach = 3 * max(1, scale) + (isSharpened ? 1 : 0)
        // The bound exceeds any side. It keeps the conversion from trapping on hostile headers.
        return (Int(min(1e12, (2 * reach).rounded(.up))) + 2 + 3) / 4 * 4
    }

    /// Makes a Gaussian kernel that keeps the source's size.
    /// - Throws: `CancellationError`.
    init(count: Int, sigma: Double, cancellation: WorkCancellation) throws {
        let reach = Int((3 * sigma).rounded(.up))
        let taps = (2 * reach + 1 + 1 + 3) / 4 * 4
        var weights = [Int16](repeating: 0, count: count * taps)
        var starts: [Int32] = []
        starts.reserveCapacity(count)
        let curve = (0...reach + 1).map { exp(-Double($0 * $0) / (2 * sigma * sigma)) }
        for index in 0..<count {
            if index * taps % 65_536 < taps { try cancellation.check() }
            let start = max(0, index - reach) & ~1
            let end = min(count, index + reach + 1, start + taps)
            let row = (start..<end).map { curve[abs($0 - index)] }
            starts.append(Int32(start))
            Self.quantise(row[...], into: &weights, at: index * taps)
        }
        self.starts = starts
        self.weights = weights
        self.taps = taps
    }

    /// Rounds weights to integers. The largest one takes the rounding errors.
    private static func quantise(_ row: ArraySlice<Double>, into weights: inout [Int16], at offset: Int) {
        let one = 16384
        var sum = 0.0
        for weight in row { sum += weight }
        let factor = Double(one) / sum
        var rest = one
        var largest = 0
        for index in row.indices {
            let value = Int((row[index] * factor).rounded())
            weights[offset + index] = Int16(clamping: value)
            rest -= value
            if weights[offset + index] > weights[offset + largest] { largest = index }
        }
        weights[offset + largest] += Int16(clamping: rest)
    }
}
