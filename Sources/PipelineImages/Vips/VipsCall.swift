#if Vips
import CVips
import Pipeline

/// One call of libvips that can be cancelled and keeps libvips' error message.
struct VipsCall {
    var failure = cvips_failure()
    let cancellation: cvips_cancellation

    /// Runs `body` while `cancellation` is watched.
    /// - Throws: `CancellationError` if the work was cancelled; what `body` throws otherwise.
    static func run<Result>(
        _ cancellation: WorkCancellation, _ body: (inout VipsCall) throws -> Result
    ) throws -> Result {
        try cancellation.check()
        return try withExtendedLifetime(cancellation) {
            var call = VipsCall(
                cancellation: cvips_cancellation(
                    is_cancelled: { Unmanaged<WorkCancellation>.fromOpaque($0).takeUnretainedValue().isCancelled },
                    context: Unmanaged.passUnretained(cancellation).toOpaque()))
            do {
                return try body(&call)
            } catch {
                // A cancelled call fails with an arbitrary error of libvips.
                try cancellation.check()
                throw error
            }
        }
    }

    /// The error message of libvips.
    var message: String {
        withUnsafeBytes(of: failure.message) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }
}
#endif
