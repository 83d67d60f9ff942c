public import Pipeline

/// How ``Encode`` writes a file. Each format has options of its own; those of other formats are left aside.
///
/// ```swift
/// var options = EncodeOptions(quality: 75, maxBytes: 100_000)
/// options.jpeg.progressive = true
/// Encode(.jpeg, options: options)
/// ```
public struct EncodeOptions: Sendable, Hashable {
    /// From 1, small, to 100, faithful; 80 by default. PNG, GIF, TIFF and what is written without loss have no use for it.
    public var quality: Int
    /// The most bytes that the file may have; `nil`, the default, for any number. The highest quality up to ``quality``
    /// that fits is taken.
    public var maxBytes: Int?
    /// What of the source's metadata is written; ``KeptMetadata/none`` by default.
    public var metadata: KeptMetadata
    /// How JPEG is written.
    public var jpeg = JPEG()
    /// How PNG is written.
    public var png = PNG()
    /// How WebP is written.
    public var webp = WebP()
    /// How AVIF is written.
    public var avif = AVIF()
    /// How GIF is written.
    public var gif = GIF()
    /// How TIFF is written.
    public var tiff = TIFF()

    /// Sets options; what is left out has its default, and so have the formats' own.
    public init(quality: Int = 80, maxBytes: Int? = nil, metadata: KeptMetadata = .none) {
        self.quality = quality
        self.maxBytes = maxBytes
        self.metadata = metadata
    }

    /// Looks whether all options are in their ranges. ``Encode`` does so before it writes; a program that takes options
    /// from a user can do so before anything is loaded.
    /// - Throws: `LoadError.Code.unencodable` with the option and its range.
    public func check() throws(LoadError) {
        try check("quality", quality, 1...100)
        if let maxBytes { try check("maxBytes", maxBytes, 1...Int.max) }
        try check("png.compression", png.compression, 0...9)
        if let colours = png.colours { try check("png.colours", colours, 2...256) }
        try check("png.dither", png.dither, 0...1)
        try check("webp.effort", webp.effort, 0...6)
        try check("avif.effort", avif.effort, 0...9)
        try check("gif.colours", gif.colours, 2...256)
        try check("gif.dither", gif.dither, 0...1)
        try check("gif.effort", gif.effort, 1...10)
    }

    private func check<Value: Comparable>(
        _ name: String, _ value: Value, _ range: ClosedRange<Value>
    ) throws(LoadError) {
        guard !range.contains(value) else { return }
        let end = (range.upperBound as? Int) == .max ? "at least \(range.lowerBound)" : "\(range)"
        throw LoadError(.unencodable, subject: "", "The option \(name) is \(value); it has to be \(end).")
    }

    /// Whether the quality makes a difference to what is written.
    func isLossy(_ format: ImageFormat) -> Bool {
        switch format {
        case .jpeg: true
        case .webp: !webp.lossless
        case .avif: !avif.lossless
        default: false
        }
    }
}
