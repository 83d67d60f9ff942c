package import Pipeline

/// A decoder that works in another process. Everything that reads a file's bytes is done there, metadata included, so that
/// no parser of untrusted bytes runs in this process.
package protocol RemoteDecoding: ImageDecoding {
    /// Whether the other process has all the confinement that is required; `nil` if none has been started.
    var isFullyConfined: Bool? { get }

    /// Starts the other process for a file that is being fetched, unless it has started. Doesn't block; by default does
    /// nothing.
    func begin()

    /// Wakes the other process for a file that comes in a moment, while a thread of this one is woken to send it. Doesn't
    /// block; by default does nothing.
    func wake()

    /// Returns a decoder for the loads of a partition, if the other processes are kept apart by it; by default itself.
    func serving(_ partition: String?) -> any RemoteDecoding

    /// Does ``ImageMetadata/reading(_:by:_:)`` there.
    func description(of bytes: [UInt8], cancellation: WorkCancellation) throws -> ImageMetadata

    /// Does ``KeptMetadata/blocks(of:by:for:isGray:_:)`` there.
    func blocks(
        _ kept: KeptMetadata, of bytes: [UInt8], for size: PixelSize, isGray: Bool, cancellation: WorkCancellation
    ) throws -> EmbeddedMetadata

    /// Does ``StrippedMetadata/stripped(_:_:by:_:)`` there.
    func stripped(
        _ bytes: [UInt8], of metadata: StrippedMetadata, cancellation: WorkCancellation
    ) throws -> [UInt8]
}

extension RemoteDecoding {
    package func begin() {}
    package func wake() {}
    package func serving(_ partition: String?) -> any RemoteDecoding { self }
}

extension ImageDecoding {
    /// This decoder, if it works in another process. The one place that asks: a public protocol has no requirements that
    /// only its package sees.
    package var remote: (any RemoteDecoding)? { self as? any RemoteDecoding }
}
