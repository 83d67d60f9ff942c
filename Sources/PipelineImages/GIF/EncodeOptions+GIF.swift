#if GIF
extension EncodeOptions {
    /// How GIF is written.
    public var gif: GIF {
        get { self[GIF()] }
        set { self[GIF()] = newValue }
    }

    /// The options of GIF.
    public struct GIF: Sendable, Hashable {
        /// The most colours of a frame, 2 to 256, rounded down to a power of two; 256 by default.
        public var colors: Int
        /// How much of a pixel's error is diffused to its neighbours, 0 to 1; 1 by default. 0 compresses better.
        public var dither: Double
        /// How long to look for the best colours, from 1 to 10; 7 by default.
        public var effort: Int

        /// Creates options; omitted ones have their defaults.
        package init(colors: Int = 256, dither: Double = 1, effort: Int = 7) {
            self.colors = colors
            self.dither = dither
            self.effort = effort
        }
    }
}
#endif
