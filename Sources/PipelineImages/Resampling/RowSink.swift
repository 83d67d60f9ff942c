import Pipeline

/// Collects a picture's rows from top to bottom and returns the picture or a window of it, scaled if planned.
final class RowSink {
    private let resampler: Resampler?
    private let window: PixelRegion
    private let channels: Int
    /// The bytes of an incoming row.
    private let stride: Int
    private var taken = 0
    private var pixels: [UInt8] = []

    /// - Parameters:
    ///   - plan: The scaling from the window's size.
    ///   - window: The wanted part of the incoming pixels; by default all of them.
    ///   - width: The pixels of an incoming row; by default the window's width.
    ///   - isInk: Whether the channels of an RGBA layout are cyan, magenta, yellow and black.
    /// - Throws: `CancellationError`.
    init(
        _ plan: ResamplePlan, window: PixelRegion? = nil, of width: Int? = nil, layout: PixelLayout,
        isInk: Bool = false,
        cancellation: WorkCancellation
    ) throws {
        self.window = window ?? PixelRegion(x: 0, y: 0, size: plan.source)
        channels = layout.channelCount
        stride = (width ?? plan.source.width) * channels
        if plan.source == plan.target {
            resampler = nil
            pixels.reserveCapacity(plan.source.bytes(channels))
        } else {
            resampler = try Resampler(plan, layout: layout, isInk: isInk, cancellation: cancellation)
        }
    }

    /// Takes the next rows, without padding between them.
    func push(_ rows: UnsafePointer<UInt8>, count: Int = 1) {
        let wanted = max(window.y, taken)..<max(window.y, taken, min(window.bottom, taken + count))
        let start = rows + (wanted.lowerBound - taken) * stride + window.x * channels
        taken += count
        guard !wanted.isEmpty else { return }
        if let resampler {
            resampler.push(start, rows: wanted.count, stride: stride)
        } else if window.size.width * channels == stride {
            pixels.append(contentsOf: UnsafeBufferPointer(start: start, count: wanted.count * stride))
        } else {
            for row in 0..<wanted.count {
                let bytes = UnsafeBufferPointer(start: start + row * stride, count: window.size.width * channels)
                pixels.append(contentsOf: bytes)
            }
        }
    }

    /// Returns the picture once all rows have been pushed.
    func finish() -> [UInt8] { resampler?.finish() ?? pixels }
}
