public import Pipeline

/// A transform whose work takes a while: it is done on threads of our own, never on Swift's cooperative ones.
///
/// All transforms of this module are such. They throw `LoadError.Code.unsupportedLayout` unless the pixels are 8-bit sRGB.
/// One of your own has to say what becomes of the pixels.
public protocol PixelTransform: Transform {
    /// Where the work is done; by default threads shared by all stages, one for each core.
    var threads: BlockingThreads { get }

    /// Makes the new pixels of every frame, on one of the threads.
    /// - Parameters:
    ///   - image: the picture as the stages before have left it.
    ///   - cancellation: to be looked at every few milliseconds.
    /// - Throws: any error, which the pipeline reports as this stage's; `CancellationError` if `cancellation` says so.
    func transformed(_ image: DecodedImage, _ cancellation: WorkCancellation) throws -> DecodedImage
}

extension PixelTransform {
    /// Threads shared by all stages, one for each core.
    public var threads: BlockingThreads { .decoding }

    /// Makes the new pixels on the transform's threads.
    public func apply(_ image: DecodedImage) async throws -> DecodedImage {
        try await threads.run { try transformed(image, $0) }
    }

    /// The same in a list, as urgent as the load is.
    public func run(_ load: inout Load) async throws -> Outcome {
        guard case .decoded(let image) = load.content else { return .skipped }
        let limited = load.limitingTime
        let result = try await threads.run(priority: load.priority) { try transformed(image, limited($0)) }
        load.advance(to: .decoded(result))
        return .done
    }
}

extension LoadError.Code {
    /// A transform can't be applied to this picture, such as a crop that lies outside of it.
    public static let untransformable = LoadError.Code(rawValue: "untransformable")
}
