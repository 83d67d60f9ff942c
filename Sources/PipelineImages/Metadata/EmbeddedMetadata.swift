/// The blocks of metadata in a file, unchanged. A block that the file lacks is empty.
public struct EmbeddedMetadata: Sendable, Hashable {
    /// EXIF, without the "Exif" that some formats put before it.
    public var exif: [UInt8]
    /// An XMP packet.
    public var xmp: [UInt8]
    /// An ICC profile.
    public var profile: [UInt8]

    /// Gathers blocks; by default there are none.
    public init(exif: [UInt8] = [], xmp: [UInt8] = [], profile: [UInt8] = []) {
        self.exif = exif
        self.xmp = xmp
        self.profile = profile
    }

    /// A block without the "Exif" before it.
    static func exif(_ block: [UInt8]?) -> [UInt8] { block.flatMap { EXIFBlock($0) }?.bytes ?? [] }

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
