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

    /// Scales a frame's bytes.
    /// - Throws: `CancellationError`.
    func scaled(_ bytes: UnsafeBufferPointer<UInt8>, _ cancellation: WorkCancellation) throws -> [UInt8] {
        let length = target.width * channels
        // The filtered rows that the kernel of columns reaches, each at its number modulo their count.
        var rows = [Float](repeating: 0, count: down.taps * length)
        var line = [Float](repeating: 0, count: source.width * channels)
        var result: [UInt8] = []
        result.reserveCapacity(2 * length * target.height)
        var next = 0
        for row in 0..<target.height {
            try cancellation.check()
            let start = down.starts[row]
            while next < start + down.taps {
                read(bytes, row: next, into: &line)
                filter(line, into: &rows, at: next % down.taps * length)
                next += 1
            }
            write(sum(rows, from: start, weights: row * down.taps, length), into: &result)
        }
        return result
    }

    private func read(_ bytes: UnsafeBufferPointer<UInt8>, row: Int, into line: inout [Float]) {
        let (samples, start) = (UnsafeRawBufferPointer(bytes), 2 * row * line.count)
        for index in line.indices {
            line[index] = Float(samples.loadUnaligned(fromByteOffset: start + 2 * index, as: UInt16.self))
        }
        guard hasAlpha else { return }
        for pixel in stride(from: 0, to: line.count, by: 4) {
            for channel in pixel..<pixel + 3 { line[channel] *= line[pixel + 3] / 65535 }
        }
    }

    private func filter(_ line: [Float], into rows: inout [Float], at start: Int) {
        for column in 0..<target.width {
            let (first, weight) = (across.starts[column] * channels, column * across.taps)
            for channel in 0..<channels {
                var sum: Float = 0
                for tap in 0..<across.taps {
                    sum += line[first + tap * channels + channel] * across.weights[weight + tap]
                }
                rows[start + column * channels + channel] = sum
            }
        }
    }

    private func sum(_ rows: [Float], from start: Int, weights: Int, _ length: Int) -> [Float] {
        var sums = [Float](repeating: 0, count: length)
        for tap in 0..<down.taps {
            let (row, weight) = ((start + tap) % down.taps * length, down.weights[weights + tap])
            for index in 0..<length { sums[index] += rows[row + index] * weight }
        }
        return sums
    }

    private func write(_ sums: [Float], into result: inout [UInt8]) {
        for index in sums.indices {
            var value = sums[index]
            if hasAlpha, index % 4 < 3 {
                let alpha = sums[index | 3]
                value = alpha > 0 ? value * 65535 / alpha : 0
            }
            let level = UInt16(min(65535, max(0, value.rounded())))
            withUnsafeBytes(of: level) { result.append(contentsOf: $0) }
        }
    }
}
