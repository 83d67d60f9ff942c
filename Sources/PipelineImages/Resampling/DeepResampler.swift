import Pipeline

/// Scales pictures of 16 bits a channel in floating point, with a Lanczos-3 kernel: first each row, then the columns of as
/// many rows as the kernel reaches. Colours are premultiplied by alpha meanwhile.
struct DeepResampler {
    private let source, target: PixelSize
    private let channels: Int
    private let hasAlpha: Bool
    private let across, down: Kernel

    /// The weights along one axis.
    private struct Kernel {
        /// The first source pixel of each pixel of the result.
        let starts: [Int]
        /// `taps` weights for each of them, which add up to 1.
        let weights: [Float]
        let taps: Int

        init(count: Int, target: Int) {
            let scale = Double(count) / Double(target)
            // The kernel is never narrower than a source pixel, so that enlarging interpolates.
            let width = max(1, scale)
            taps = min(count, Int((6 * width).rounded(.up)) + 1)
            var curve = LanczosCurve(step: 1 / width, count: taps)
            var starts: [Int] = []
            var weights: [Float] = []
            weights.reserveCapacity(target * taps)
            for index in 0..<target {
                let center = (Double(index) + 0.5) * scale
                let start = max(0, min(count - taps, Int((center - 3 * width).rounded(.down))))
                curve.trace(from: Double(start) + 0.5 - center)
                let sum = curve.values.reduce(0, +)
                starts.append(start)
                weights += curve.values.map { Float($0 / sum) }
            }
            (self.starts, self.weights) = (starts, weights)
        }
    }

    init(from source: PixelSize, to target: PixelSize, _ layout: PixelLayout) {
        (self.source, self.target) = (source, target)
        (channels, hasAlpha) = (layout.channelCount, layout.hasAlpha)
        across = Kernel(count: source.width, target: target.width)
        down = Kernel(count: source.height, target: target.height)
    }

    /// A pixel, premultiplied; what a picture lacks is 0.
    private typealias Pixel = SIMD4<Float>

    /// Scales a frame's bytes.
    /// - Throws: `CancellationError`.
    func scaled(_ bytes: UnsafeBufferPointer<UInt8>, _ cancellation: WorkCancellation) throws -> [UInt8] {
        // The filtered rows that the kernel of columns reaches, each at its number modulo their count.
        var rows = [Pixel](repeating: Pixel(), count: down.taps * target.width)
        var line = [Pixel](repeating: Pixel(), count: source.width)
        var sums = [Pixel](repeating: Pixel(), count: target.width)
        var result: [UInt8] = []
        result.reserveCapacity(2 * target.width * channels * target.height)
        var next = 0
        for row in 0..<target.height {
            try cancellation.check()
            let start = down.starts[row]
            while next < start + down.taps {
                read(bytes, row: next, into: &line)
                filter(line, into: &rows, at: next % down.taps * target.width)
                next += 1
            }
            sum(rows, from: start, weights: row * down.taps, into: &sums)
            write(sums, into: &result)
        }
        return result
    }

    private func read(_ bytes: UnsafeBufferPointer<UInt8>, row: Int, into line: inout [Pixel]) {
        let samples = UnsafeRawBufferPointer(bytes)
        var place = 2 * row * line.count * channels
        for index in line.indices {
            var pixel = Pixel()
            for channel in 0..<channels {
                pixel[channel] = Float(samples.loadUnaligned(fromByteOffset: place, as: UInt16.self))
                place += 2
            }
            if hasAlpha {
                let share = pixel.w / 65535
                pixel *= Pixel(share, share, share, 1)
            }
            line[index] = pixel
        }
    }

    private func filter(_ line: [Pixel], into rows: inout [Pixel], at start: Int) {
        line.withUnsafeBufferPointer { line in
            across.weights.withUnsafeBufferPointer { weights in
                for column in 0..<target.width {
                    let (first, weight) = (across.starts[column], column * across.taps)
                    var sum = Pixel()
                    for tap in 0..<across.taps { sum += line[first + tap] * weights[weight + tap] }
                    rows[start + column] = sum
                }
            }
        }
    }

    private func sum(_ rows: [Pixel], from start: Int, weights: Int, into sums: inout [Pixel]) {
        rows.withUnsafeBufferPointer { rows in
            sums.withUnsafeMutableBufferPointer { sums in
                for tap in 0..<down.taps {
                    let (row, weight) = ((start + tap) % down.taps * target.width, down.weights[weights + tap])
                    for index in sums.indices {
                        sums[index] = tap == 0 ? rows[row + index] * weight : sums[index] + rows[row + index] * weight
                    }
                }
            }
        }
    }

    private func write(_ sums: [Pixel], into result: inout [UInt8]) {
        for var pixel in sums {
            if hasAlpha {
                let scale = pixel.w > 0 ? 65535 / pixel.w : 0
                pixel *= Pixel(scale, scale, scale, 1)
            }
            pixel = pixel.clamped(lowerBound: Pixel(), upperBound: Pixel(repeating: 65535)).rounded(
                .toNearestOrAwayFromZero)
            for channel in 0..<channels {
                withUnsafeBytes(of: UInt16(pixel[channel])) { result.append(contentsOf: $0) }
            }
        }
    }
}
