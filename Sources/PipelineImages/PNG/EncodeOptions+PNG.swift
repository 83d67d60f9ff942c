#if PNG
extension EncodeOptions {
    /// How PNG is written.
    public var png: PNG {
        get { self[PNG()] }
        set { self[PNG()] = newValue }
    }

    /// The options of PNG.
    public struct PNG: Sendable, Hashable {
        /// How pixels are predicted from their neighbours, so that they compress better (ISO/IEC 15948 clause 9).
        public enum Filter: Int, Sendable, Hashable, CaseIterable {
            /// No filter.
            case none = 0
            /// The difference from the pixel on the left.
            case sub = 1
            /// The difference from the pixel above.
            case up = 2
            /// The difference from the mean of both.
            case average = 3
            /// The difference from the neighbour that is nearest to a linear prediction (Paeth).
            case paeth = 4
            /// The most promising filter for each row. Photographs get smallest with it.
            case adaptive = 5
        }

        /// The compression level, from 0, none, to 9, the smallest file; 6 by default.
        public var compression: Int
        /// The filter; ``Filter/adaptive`` by default. Pictures with a palette are never filtered.
        public var filter: Filter
        /// The most colours of a palette, 2 to 256, rounded down to 2, 4, 16 or 256. A palette makes files far smaller,
        /// with loss. All frames of an animation share it. `nil`, the default, for no palette.
        public var colors: Int?
        /// With a palette, how much of a pixel's error is diffused to its neighbours, 0 to 1; 1 by default.
        public var dither: Double

        /// Creates options; omitted ones have their defaults.
        package init(compression: Int = 6, filter: Filter = .adaptive, colors: Int? = nil, dither: Double = 1) {
            self.compression = compression
            self.filter = filter
            self.colors = colors
            self.dither = dither
        }
    }
}
#endif
