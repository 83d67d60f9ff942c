#if AVIF
extension EncodeOptions {
    /// How AVIF is written.
    public var avif: AVIF {
        get { self[AVIF()] }
        set { self[AVIF()] = newValue }
    }

    /// The options of AVIF.
    public struct AVIF: Sendable, Hashable {
        /// Whether the file is lossless; `false` by default. Pixels of 8 bits a channel come back as they were. Of 16
        /// bits a channel 12 are kept, since AV1 has no more; with loss, 10.
        public var lossless: Bool
        /// How long to look for a smaller file, from 0 to 9; 2 by default, which takes about 25 ms for a thumbnail of
        /// 300 pixels. 4 takes eight times as long and saves 2 to 3 % of the bytes; 0 takes a quarter of the time and
        /// costs 5 %. Animations use 3 at least.
        public var effort: Int
        /// The chroma subsampling; ``Chroma/automatic`` by default.
        public var chroma: Chroma

        /// Creates options; omitted ones have their defaults.
        package init(lossless: Bool = false, effort: Int = 2, chroma: Chroma = .automatic) {
            self.lossless = lossless
            self.effort = effort
            self.chroma = chroma
        }
    }
}
#endif
