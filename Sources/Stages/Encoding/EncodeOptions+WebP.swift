extension EncodeOptions {
    /// How WebP is written.
    public struct WebP: Sendable, Hashable {
        /// Whether every pixel is kept as it is; `false` by default. What is fully transparent loses its colour.
        public var lossless: Bool
        /// How long to look for a smaller file, from 0 to 6; 4 by default. 2 takes half the time of 4.
        public var effort: Int

        /// Sets options; what is left out has its default.
        public init(lossless: Bool = false, effort: Int = 4) {
            self.lossless = lossless
            self.effort = effort
        }
    }
}
