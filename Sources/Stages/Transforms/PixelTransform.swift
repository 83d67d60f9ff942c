public import Pipeline

/// A transform of ours: work that blocks, done on threads of our own.
protocol PixelTransform: Transform {
    /// Where the work is done.
    var threads: BlockingThreads { get }

    /// Makes the new pixels of every frame; looks at `cancellation` every few milliseconds.
    func transformed(_ image: DecodedImage, _ cancellation: WorkCancellation) throws -> DecodedImage
}

extension PixelTransform {
    /// Runs ``transformed(_:_:)`` on the transform's threads.
    nonisolated(nonsending) func applyOnThreads(_ image: DecodedImage) async throws -> DecodedImage {
        try await threads.run { try transformed(image, $0) }
    }
}

extension LoadError.Code {
    /// A transform can't be applied to this picture, such as a crop that lies outside of it.
    public static let untransformable = LoadError.Code(rawValue: "untransformable")
}
