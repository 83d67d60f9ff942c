/// A transform written where it is used.
///
/// ```swift
/// ClosureTransform("Invert", signature: "v1") { image in
///     let inverted = try image.withPixels { pixels in pixels.map { 255 - $0 } }
///     return DecodedImage(size: image.size, layout: image.layout, pixels: inverted)
/// }
/// ```
package struct ClosureTransform: Transform {
    package let name: String
    private let version: String
    private let work: @Sendable (DecodedImage) async throws -> DecodedImage

    /// Makes a transform of a closure.
    /// - Parameters:
    ///   - name: the name in printed lists, traces and errors, and the beginning of the signature.
    ///   - signature: distinguishes this transform from others of its name: its parameters, and a version to change
    ///     whenever the closure changes. Otherwise caches would return results of the old closure.
    ///   - work: makes the new pixels, of every frame.
    package init(
        _ name: String, signature: String, _ work: @escaping @Sendable (DecodedImage) async throws -> DecodedImage
    ) {
        self.name = name
        version = signature
        self.work = work
    }

    /// The name with the signature that the initialiser got.
    package var signature: String? { "\(name)(\(version))" }

    package var parameters: String { version }

    package func apply(_ image: DecodedImage) async throws -> DecodedImage { try await work(image) }
}
