extension EncodeOptions {
    /// How PNG is written.
    public var png: PNG {
        get { self[PNG()] }
        set { self[PNG()] = newValue }
    }

    /// The options of PNG.
    public struct PNG: Sendable, Hashable {
        /// What is written instead of a pixel, so that it packs better (ISO/IEC 15948 clause 9).
        public enum Filter: Int, Sendable, Hashable, CaseIterable {
            /// The pixel itself.
            case none = 0
            /// Its difference to the one on its left.
            case sub = 1
            /// Its difference to the one above.
            case up = 2
            /// Its difference to the mean of both.
            case average = 3
            /// Its difference to that neighbour which comes nearest to a plane through all three.
            case paeth = 4
            /// Whichever promises most, row by row: the smallest files for photographs.
            case adaptive = 5
        }

        /// From 0, none, to 9, all that can be got; 6 by default.
        public var compression: Int
        /// What is written instead of a pixel; ``Filter/adaptive`` by default. Pictures with a palette are never
        /// filtered.
        public var filter: Filter
        /// The most colours of a palette, 2 to 256, which counts as the next lower of 2, 4, 16 and 256: far smaller
        /// files, with loss. `nil`, the default, for no palette.
        public var colours: Int?
        /// With a palette, how much of a pixel's error is made up for by its neighbours, 0 to 1; 1 by default.
        public var dither: Double

        /// Sets options; what is left out has its default.
        public init(compression: Int = 6, filter: Filter = .adaptive, colours: Int? = nil, dither: Double = 1) {
            self.compression = compression
            self.filter = filter
            self.colours = colours
            self.dither = dither
        }
    }
}
