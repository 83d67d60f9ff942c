import Pipeline

/// Takes a picture's rows from top to bottom and gives the picture, scaled if that is planned.
final class RowSink {
    private let resampler: Resampler?
    private let length: Int
    private var pixels: [UInt8] = []

    /// - Parameter isInk: whether the channels of an RGBA layout are cyan, magenta, yellow and black.
    /// - Throws: `CancellationError`.
    init(
        _ plan: ResamplePlan, layout: PixelLayout, isInk: Bool = false, cancellation: WorkCancellation
    ) throws {
        length = plan.source.width * layout.channelCount
        if plan.source == plan.target {
            resampler = nil
            pixels.reserveCapacity(length * plan.source.height)
        } else {
            resampler = try Resampler(plan, layout: layout, isInk: isInk, cancellation: cancellation)
        }
    }

    /// Takes the next rows, which lie one behind the other.
    func push(_ rows: UnsafePointer<UInt8>, count: Int = 1) {
        if let resampler {
            resampler.push(rows, rows: count, stride: length)
        } else {
            pixels.append(contentsOf: UnsafeBufferPointer(start: rows, count: count * length))
        }
    }

    /// The picture, when all rows have come.
    func finish() -> [UInt8] { resampler?.finish() ?? pixels }
}
