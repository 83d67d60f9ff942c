#if TIFF
extension EncodeOptions {
    /// How TIFF is written.
    public var tiff: TIFF {
        get { self[TIFF()] }
        set { self[TIFF()] = newValue }
    }

    /// The options of TIFF.
    public struct TIFF: Sendable, Hashable {
        /// A lossless compression.
        public enum Compression: String, Sendable, Hashable, CaseIterable {
            /// No compression.
            case none
            /// LZW, which every program reads.
            case lzw
            /// Deflate, which makes smaller files.
            case deflate
        }

        /// The compression; ``Compression/deflate`` by default.
        public var compression: Compression

        /// Creates options; omitted ones have their defaults.
        package init(compression: Compression = .deflate) { self.compression = compression }
    }
}
#endif
