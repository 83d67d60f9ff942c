extension EncodeOptions {
    /// How TIFF is written.
    public var tiff: TIFF {
        get { self[TIFF()] }
        set { self[TIFF()] = newValue }
    }

    /// The options of TIFF.
    public struct TIFF: Sendable, Hashable {
        /// How the pixels are packed; nothing is ever lost.
        public enum Compression: String, Sendable, Hashable, CaseIterable {
            /// Not at all.
            case none
            /// LZW, which everything reads.
            case lzw
            /// Deflate: smaller.
            case deflate
        }

        /// How the pixels are packed; ``Compression/deflate`` by default.
        public var compression: Compression

        /// Sets options; what is left out has its default.
        public init(compression: Compression = .deflate) { self.compression = compression }
    }
}
