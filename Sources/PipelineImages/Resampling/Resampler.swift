import CImages
import Pipeline

/// Scales a picture as its rows come in, with exact block means first if planned, then a Lanczos-3 kernel.
///
/// It only holds the rows that the kernel reaches. Colours are premultiplied by alpha meanwhile, so that transparent
/// pixels never tint others.
final class Resampler {
    private let plan: ResamplePlan
    private let layout: PixelLayout
    /// Whether the fourth channel is transparency, rather than black ink.
    private let hasAlpha: Bool
    private let means: BlockMeans?
    private let across: ResampleKernel
    private let down: ResampleKernel
    private let rows: SampleRows
    /// A row after the vertical pass.
    private let column: SampleRows
    /// That row in pairs of pixels, unless the picture is grey.
    private let pairs: SampleRows
    /// That row after the horizontal pass.
    private let narrow: SampleRows
    /// The row being written.
    private var line: [UInt8]
    /// The result grows row by row, since zeroing a large one first would take long.
    private var result: [UInt8] = []
    /// The result as samples, if requested. They have more than 8 bits and may exceed black and white.
    private(set) var samples: [Int16] = []
    private let keepsSamples: Bool
    /// A deep row reduced to 8 bits.
    private var flat: [UInt8] = []
    private var taken = 0
    private var given = 0

    /// Scales as planned.
    /// - Parameters:
    ///   - isInk: Whether the channels of an RGBA layout are cyan, magenta, yellow and black.
    ///   - keepsSamples: Whether the result is ``samples`` instead of pixels.
    /// - Throws: `CancellationError`.
    convenience init(
        _ plan: ResamplePlan, layout: PixelLayout, isInk: Bool = false, keepsSamples: Bool = false,
        cancellation: WorkCancellation
    ) throws {
        let block = Double(plan.block)
        let size = plan.reducedSize
        // The variance of a block of n pixels is (n² - 1) / 12; earlier blur shrinks in units of blocks.
        let blur = (1 - 1 / (block * block)) / 12 + plan.blur / (block * block)
        self.init(
            plan, layout: layout, isInk: isInk,
            across: try ResampleKernel(
                count: size.width, origin: plan.origin.x / block, extent: plan.extent.width / block,
                target: plan.target.width, blur: blur, cancellation: cancellation),
            down: try ResampleKernel(
                count: size.height, origin: plan.origin.y / block, extent: plan.extent.height / block,
                target: plan.target.height, blur: blur, cancellation: cancellation),
            keepsSamples: keepsSamples)
    }

    /// Filters with other kernels.
    init(
        _ plan: ResamplePlan, layout: PixelLayout, isInk: Bool = false, across: ResampleKernel, down: ResampleKernel,
        keepsSamples: Bool = false
    ) {
        self.keepsSamples = keepsSamples
        self.plan = plan
        self.layout = layout
        hasAlpha = layout.hasAlpha && !isInk
        self.across = across
        self.down = down
        let (width, height, channels) = (plan.reducedSize.width, plan.reducedSize.height, layout.channelCount)
        means =
            plan.block > 1
            ? BlockMeans(side: plan.block, width: plan.source.width, layout: layout, hasAlpha: hasAlpha) : nil
        rows = SampleRows(count: min(height, down.taps), width: width, channels: channels, slack: across.taps)
        column = SampleRows(count: 1, width: width, channels: channels, slack: across.taps)
        pairs = SampleRows(count: 1, width: width, channels: 4, slack: across.taps)
        narrow = SampleRows(count: 1, width: plan.target.width, channels: channels, slack: 0)
        line = [UInt8](repeating: 0, count: plan.target.width * channels)
        let count = plan.target.width * plan.target.height * channels
        if keepsSamples { samples.reserveCapacity(count) } else { result.reserveCapacity(count) }
    }

    /// Scales pixels in memory.
    /// - Parameter pixels: Pixels of size `plan.source`, without padding between rows.
    /// - Throws: `CancellationError`.
    static func scaled(
        _ pixels: UnsafePointer<UInt8>, _ plan: ResamplePlan, layout: PixelLayout, cancellation: WorkCancellation
    ) throws -> [UInt8] {
        try Resampler(plan, layout: layout, cancellation: cancellation).scaled(pixels, cancellation)
    }

    /// Scales pixels in memory with this resampler, which can only be used once.
    func scaled(_ pixels: UnsafePointer<UInt8>, _ cancellation: WorkCancellation) throws -> [UInt8] {
        let stride = plan.source.width * layout.channelCount
        // A row takes far longer with a wide kernel.
        let count = max(1, min(32, 500 / down.taps))
        for top in Swift.stride(from: 0, to: plan.source.height, by: count) {
            try cancellation.check()
            push(pixels + top * stride, rows: min(count, plan.source.height - top), stride: stride)
        }
        return finish()
    }

    /// Takes the next rows, which begin `stride` bytes apart.
    func push(_ pixels: UnsafePointer<UInt8>, rows count: Int, stride: Int) {
        guard let means else {
            for index in 0..<count {
                let (pixels, samples) = (pixels + index * stride, rows.row(taken))
                if hasAlpha {
                    cresample_premultiply(pixels, samples, plan.source.width)
                } else {
                    cresample_widen(pixels, samples, plan.source.width * layout.channelCount)
                }
                finishRow()
            }
            return
        }
        for index in 0..<count where means.add(pixels + index * stride) {
            means.take(into: rows.row(taken))
            finishRow()
        }
    }

    /// Takes the next row of a grey picture with more than 8 bits.
    func push(deep pixels: UnsafePointer<UInt16>, depth: Int) {
        guard means != nil else {
            cresample_widen_deep(pixels, rows.row(taken), plan.source.width, Int32(depth))
            return finishRow()
        }
        // Means of many values are exact enough with 8 bits each.
        if flat.isEmpty { flat = [UInt8](repeating: 0, count: plan.source.width) }
        flat.withUnsafeMutableBufferPointer { flat in
            guard let start = flat.baseAddress else { return }
            cresample_narrow_deep(pixels, start, plan.source.width, Int32(depth))
            push(start, rows: 1, stride: plan.source.width)
        }
    }

    /// Returns the scaled picture once all rows have been pushed.
    @discardableResult
    func finish() -> [UInt8] {
        if let means, means.isPartial {
            means.take(into: rows.row(taken))
            finishRow()
        }
        return result
    }

    /// Writes the rows of the result whose source rows are all available.
    private func finishRow() {
        taken += 1
        let height = plan.reducedSize.height
        while given < plan.target.height {
            let start = Int(down.starts[given])
            guard taken >= min(height, start + down.taps) else { return }
            write(given, from: start, height: height)
            given += 1
        }
    }

    private func write(_ index: Int, from start: Int, height: Int) {
        // Weights past the last row are zero, so any row will do there.
        let reached = (0..<down.taps).map { UnsafePointer(rows.row(min(start + $0, height - 1))) }
        let (sums, narrow) = (column.row(0), narrow.row(0))
        let (width, channels) = (plan.target.width, layout.channelCount)
        down.weights.withUnsafeBufferPointer { weights in
            guard let weights = weights.baseAddress else { return }
            cresample_columns(reached, weights + index * down.taps, down.taps, sums, rows.length)
        }
        if layout == .gray {
            cresample_grey_row(sums, across.starts, across.weights, across.taps, narrow, width)
        } else {
            cresample_pair(sums, pairs.row(0), plan.reducedSize.width, Int32(channels))
            cresample_paired_row(
                pairs.row(0), across.starts, across.weights, across.taps, Int32(channels), narrow, width)
        }
        if keepsSamples {
            samples.append(contentsOf: UnsafeBufferPointer(start: narrow, count: width * channels))
            return
        }
        line.withUnsafeMutableBufferPointer { buffer in
            guard let row = buffer.baseAddress else { return }
            if hasAlpha {
                cresample_unpremultiply(narrow, row, width)
            } else {
                cresample_narrow(narrow, row, width * channels)
            }
        }
        result.append(contentsOf: line)
    }
}
