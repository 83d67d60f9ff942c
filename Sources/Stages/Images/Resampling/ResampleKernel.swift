import Glibc

/// The weights of a Lanczos-3 kernel along one axis: for each pixel of the result, which pixels of the source it is made
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
    /// How many weights a pixel of the result has, a multiple of what the inner loop takes at a time. Those behind the
    /// source's end are zero.
    let taps: Int

    /// Computes weights.
    /// - Parameters:
    ///   - count: how many pixels the source has.
    ///   - extent: how many of them the picture covers: a little fewer than `count` where the last is not whole.
    ///   - target: how many pixels the result has.
    ///   - blur: the variance of the means that the source consists of, in its own pixels: 1/12 for means of blocks.
    ///   - multiple: what `taps` has to be a multiple of.
    init(count: Int, extent: Double, target: Int, blur: Double, multiple: Int) {
        let scale = extent / Double(target)
        // What is enlarged is interpolated: the kernel is never narrower than the source's pixels.
        let width = max(1, scale)
        let step = 1 / width
        let correction = scale > 1 ? blur / 2 : 0
        let reach = 3 * width + (correction > 0 ? 1 : 0)
        let taps = (Int((2 * reach).rounded(.up)) + 1 + multiple - 1) / multiple * multiple
        var starts: [Int32] = []
        var weights = [Int16](repeating: 0, count: target * taps)
        starts.reserveCapacity(target)
        var row = [Double](repeating: 0, count: taps)
        for index in 0..<target {
            let centre = (Double(index) + 0.5) * scale
            let start = max(0, Int((centre - reach).rounded(.down)))
            let end = min(count, Int((centre + reach).rounded(.up)), start + taps)
            for position in start..<end {
                let distance = (Double(position) + 0.5 - centre) * step
                var weight = Self.lanczos(distance)
                if correction > 0 {
                    let neighbours = Self.lanczos(distance - step) + Self.lanczos(distance + step)
                    weight += correction * (2 * weight - neighbours)
                }
                row[position - start] = weight
            }
            starts.append(Int32(start))
            Self.quantise(row[..<(end - start)], into: &weights, at: index * taps)
        }
        self.starts = starts
        self.weights = weights
        self.taps = taps
    }

    /// Makes whole numbers of weights; what rounding leaves over goes to the largest.
    private static func quantise(_ row: ArraySlice<Double>, into weights: inout [Int16], at offset: Int) {
        let one = 16384
        let factor = Double(one) / row.reduce(0, +)
        var rest = one
        var largest = 0
        for (index, weight) in row.enumerated() {
            let value = Int((weight * factor).rounded())
            weights[offset + index] = Int16(clamping: value)
            rest -= value
            if weights[offset + index] > weights[offset + largest] { largest = index }
        }
        weights[offset + largest] += Int16(clamping: rest)
    }

    private static func lanczos(_ x: Double) -> Double {
        if abs(x) < 1e-9 { return 1 }
        guard abs(x) < 3 else { return 0 }
        let angle = Double.pi * x
        return 3 * sin(angle) * sin(angle / 3) / (angle * angle)
    }
}
