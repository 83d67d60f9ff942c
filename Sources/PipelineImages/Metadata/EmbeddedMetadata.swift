/// The blocks that a file carries beside its pixels, as they are; empty where there is none.
struct EmbeddedMetadata: Sendable, Hashable {
    /// EXIF, without the "Exif" that some formats put before it.
    var exif: [UInt8] = []
    /// An XMP packet.
    var xmp: [UInt8] = []
    /// An ICC profile.
    var profile: [UInt8] = []

    var isEmpty: Bool { exif.isEmpty && xmp.isEmpty && profile.isEmpty }

    /// Runs `body` with pointers to the blocks, `nil` for those that are not there.
    func withBlocks<Result>(
        _ body: (
            _ exif: UnsafeBufferPointer<UInt8>, _ xmp: UnsafeBufferPointer<UInt8>, _ profile: UnsafeBufferPointer<UInt8>
        ) throws -> Result
    ) rethrows -> Result {
        func pointer(_ buffer: UnsafeBufferPointer<UInt8>) -> UnsafeBufferPointer<UInt8> {
            buffer.isEmpty ? UnsafeBufferPointer(start: nil, count: 0) : buffer
        }
        return try exif.withUnsafeBufferPointer { exif in
            try xmp.withUnsafeBufferPointer { xmp in
                try profile.withUnsafeBufferPointer { profile in
                    try body(pointer(exif), pointer(xmp), pointer(profile))
                }
            }
        }
    }
}
