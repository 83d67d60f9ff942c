/// The blocks of metadata in a file, unchanged. Missing blocks are empty.
public struct EmbeddedMetadata: Sendable, Hashable {
    /// EXIF, without the prefix "Exif" that some formats have.
    public var exif: [UInt8]
    /// An XMP packet.
    public var xmp: [UInt8]
    /// An ICC profile.
    public var profile: [UInt8]
    /// The same colours as the profile's, as numbers, for an encoder whose files hold them; `nil` if there are none. No
    /// decoder sets it: see ``ImageHeader/codedColors``.
    public var colors: CodedColors?
    /// What the file says of the display on which its colours were judged; `nil` if it says nothing. An encoder of HDR
    /// writes it.
    public var mastering: MasteringMetadata?

    /// Creates metadata from blocks; all are empty by default.
    public init(exif: [UInt8] = [], xmp: [UInt8] = [], profile: [UInt8] = []) {
        self.exif = exif
        self.xmp = xmp
        self.profile = profile
    }

    /// Returns a block without the prefix "Exif"; empty if it isn't EXIF.
    static func exif(_ block: [UInt8]?) -> [UInt8] { block.flatMap { EXIFBlock($0) }?.bytes ?? [] }

    /// Whether its profile is another than the one that is written with every picture.
    package var hasForeignProfile: Bool { !profile.isEmpty && profile != ICCProfile.sRGB }

    var isEmpty: Bool { exif.isEmpty && xmp.isEmpty && profile.isEmpty && mastering == nil }

    /// Runs `body` with pointers to the blocks, `nil` for missing ones.
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
