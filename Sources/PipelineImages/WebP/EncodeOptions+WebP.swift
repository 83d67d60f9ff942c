#if WebP
extension EncodeOptions {
    /// How WebP is written.
    public var webp: WebP {
        get { self[WebP()] }
        set { self[WebP()] = newValue }
    }

    /// The options of WebP.
    ///
    /// libwebp seldom checks whether it is cancelled: at 24 megapixels every tenth of a second, or every second for a
    /// lossless file, and never while it compresses transparency, which can take minutes at an ``effort`` of 6. So a
    /// cancelled load doesn't wait for it. Until the next check, libwebp keeps its pixels in memory and occupies its
    /// thread of the stage's `BlockingThreads`.
    ///
    /// A frame of an animation shows for at most 16,777.215 seconds.
    public struct WebP: Sendable, Hashable {
        /// Whether every pixel is kept exactly; `false` by default. Fully transparent pixels lose their colour.
        public var lossless: Bool
        /// How long to look for a smaller file, from 0 to 6; 4 by default. 2 takes half the time of 4 and 5 % more
        /// bytes. At 4, a lossless file takes ten times as long as a lossy one.
        public var effort: Int

        /// Creates options; omitted ones have their defaults.
        package init(lossless: Bool = false, effort: Int = 4) {
            self.lossless = lossless
            self.effort = effort
        }
    }
}
#endif
