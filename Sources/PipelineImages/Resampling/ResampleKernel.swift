import Glibc
import Pipeline

/// The weights of a kernel along one axis, most often Lanczos-3: for each pixel of the result, which pixels of the source it is made
/// of, and how much of each.
///
/// Where the source has been reduced already, each of its pixels is a mean, which has blurred the picture a little. The
/// kernel takes that back: it subtracts a trace of each pixel's neighbours. That is worth about one decibel.
struct ResampleKernel {
    /// The first pixel of the source for each pixel of the result.
    let starts: [Int32]
    /// `taps` weights for each pixel of the result; 16384 is one. Their sum is exactly that, so that a constant picture
    /// stays constant.
    let weights: [Int16]
    /// How many weights a pixel of the result has, a multiple of four. Those behind the source's end are zero.
    let taps: Int

    /// A Lanczos-3 kernel.
    /// - Parameters:
    ///   - count: how many pixels the source has.
    ///   - origin: where in them the picture begins.
    ///   - extent: how many of them the picture covers: a little fewer than `count` where the last is not whole.
    ///   - target: how many pixels the result has.
    ///   - blur: the variance of the means that the source consists of, in its own pixels: 1/12 for means of blocks.
    ///   - cancellation: checked every few thousand weights.
    /// - Throws: `CancellationError`.
    init(
        count: Int, origin: Double = 0, extent: Double, target: Int, blur: Double, cancellation: WorkCancellation
    ) throws {
        let scale = extent / Double(target)
        // What is enlarged is interpolated: the kernel is never narrower than the source's pixels.
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
            let centre = origin + (Double(index) + 0.5) * scale
            let start = max(0, Int((centre - reach).rounded(.down))) & ~1
            let end = min(count, Int((centre + reach).rounded(.up)), start + taps)
            // One value more at both ends: each weight looks at its neighbours.
            curve.trace(from: Double(start) - 0.5 - centre)
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

    /// How many weights a Lanczos-3 kernel has for a pixel that is made of `scale` pixels. The inner loops take four at a
    /// time and begin at even pixels.
    static func taps(scale: Double, isSharpened: Bool) -> Int {
        let reach = 3 * max(1, scale) + (isSharpened ? 1 : 0)
        // No side is as long as the bound: it keeps the conversion from trapping on whatever a header says.
        return (Int(min(1e12, (2 * reach).rounded(.up))) + 2 + 3) / 4 * 4
    }

    /// A Gaussian kernel at the source's own size.
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

    /// Makes whole numbers of weights; what rounding leaves over goes to the largest.
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
