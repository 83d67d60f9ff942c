extension EncodeOptions {
    /// How WebP is written.
    public var webp: WebP {
        get { self[WebP()] }
        set { self[WebP()] = newValue }
    }

    /// The options of WebP.
    ///
    /// libwebp looks seldom whether it should go on: of 24 megapixels every tenth of a second, without loss every second,
    /// and not at all while it packs transparency, which at an ``effort`` of 6 can take minutes. So a cancelled load doesn't
    /// wait for it. What was begun continues until libwebp looks again, on its thread of the stage's
    /// `BlockingThreads`, which does nothing else meanwhile, and with its pixels, which nobody else can free.
    public struct WebP: Sendable, Hashable {
        /// Whether every pixel is kept as it is; `false` by default. What is fully transparent loses its colour.
        public var lossless: Bool
        /// How long to look for a smaller file, from 0 to 6; 4 by default. 2 takes half the time of 4 and 5 % more
        /// bytes; without loss, 4 takes ten times as long as with it.
        public var effort: Int

        /// Sets options; what is left out has its default.
        public init(lossless: Bool = false, effort: Int = 4) {
            self.lossless = lossless
            self.effort = effort
        }
    }
}
