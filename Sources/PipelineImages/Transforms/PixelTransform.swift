public import Pipeline

/// A transform whose work takes a while. It runs on threads of its own, never on Swift's cooperative threads.
///
/// All transforms of this module conform to it. They throw `LoadError.Code.unsupportedLayout` unless the pixels are
/// 8-bit sRGB, or of another colour space that the transform keeps (`ColorKeeping`). A type of your own implements
/// ``transformed(_:_:)``; if it keeps colours, it gets the numbers of other spaces as if they were sRGB's.
public protocol PixelTransform: Transform {
    /// Where the work runs; by default threads shared by all stages, one for each core.
    var threads: BlockingThreads { get }

    /// Returns the size of the largest picture that is made of this one, whether it is the result or comes before it. Its
    /// memory is claimed from the budget of the list's `Decode`; see ``MemoryBudget``. By default the picture's size.
    func largestSize(of image: DecodedImage) -> PixelSize

    /// Makes the new pixels of every frame, on one of the threads.
    /// - Parameters:
    ///   - image: The result of the previous stages.
    ///   - cancellation: To be checked every few milliseconds.
    /// - Throws: Any error, which the pipeline reports as this stage's; `CancellationError` if the work is cancelled.
    func transformed(_ image: DecodedImage, _ cancellation: WorkCancellation) throws -> DecodedImage
}

extension PixelTransform {
    /// Threads shared by all stages, one for each core.
    public var threads: BlockingThreads { .decoding }

    /// The picture's size.
    public func largestSize(of image: DecodedImage) -> PixelSize { image.size }

    public var identity: StageIdentity? { signature.flatMap { StageIdentity($0, over: [threads]) } }

    /// Makes the new pixels on the transform's threads.
    public func apply(_ image: DecodedImage) async throws -> DecodedImage {
        try await threads.run { try inItsColors(image, $0) }
    }

    /// The new pixels of a picture whose colours the transform keeps, in those colours.
    private func inItsColors(_ image: DecodedImage, _ cancellation: WorkCancellation) throws -> DecodedImage {
        guard (self as? any ColorKeeping)?.keepsColors == true else { return try transformed(image, cancellation) }
        let transform: any PixelTransform = (self as? any ColorDrawing)?.drawing(in: image.layout.colorSpace) ?? self
        return try image.keepingColors { try transform.transformed($0, cancellation) }
    }

    public func run(_ load: inout Load) async throws -> Outcome {
        guard case .decoded(let image) = load.content else { return .skipped }
        let result = try await load.work(with: largestSize(of: image), of: image, on: threads) {
            try inItsColors(image, $0)
        }
        load.advance(to: .decoded(result))
        return .done
    }
}

/// A transform that draws in a colour or picture of its own, which is in sRGB, on pixels of any colour space.
package protocol ColorDrawing: PixelTransform, ColorKeeping {
    /// The transform with the same colours in the numbers of another space.
    func drawing(in space: PixelLayout.ColorSpace) -> Self
}

extension ColorDrawing {
    /// `true`: it draws in the numbers of the picture's colour space.
    public var keepsColors: Bool { true }
    /// `true`: it draws in 8 and in 16 bits a channel.
    public var keepsDepth: Bool { true }
    /// `true`: its white is that of SDR there.
    public var keepsHDR: Bool { true }
    /// `true`: what it draws has no gain.
    public var keepsGainMap: Bool { true }
}

/// A transform whose signature is its name in lists, with its parameters as they are printed.
package protocol SpecifiedTransform: PixelTransform {
    /// The transform's name, parameters and documentation.
    static var specification: StageSpecification { get }
}

extension SpecifiedTransform {
    /// The name and the parameters.
    public var signature: String? {
        let name = Self.specification.name
        return parameters.isEmpty ? name : "\(name)(\(parameters))"
    }
}

extension LoadError.Code {
    /// A transform can't be applied to this picture, such as a crop outside it.
    public static let untransformable = LoadError.Code(rawValue: "untransformable")
}
