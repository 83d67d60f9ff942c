extension EncodeOptions {
    /// How AVIF is written.
    public var avif: AVIF {
        get { self[AVIF()] }
        set { self[AVIF()] = newValue }
    }

    /// The options of AVIF.
    public struct AVIF: Sendable, Hashable {
        /// Whether as good as nothing is lost; `false` by default. The way from RGB to AVIF's colours and back still
        /// rounds.
        public var lossless: Bool
        /// How long to look for a smaller file, from 0 to 9; 2 by default, at which a thumbnail of 300 pixels takes about
        /// 25 ms. 4 takes eight times as long and saves 2 to 3 % of the bytes; 0 takes a quarter and costs 5 %. In an
        /// animation less than 3 counts as 3.
        public var effort: Int
        /// How many pixels share a colour; ``Chroma/automatic`` by default.
        public var chroma: Chroma

        /// Sets options; what is left out has its default.
        public init(lossless: Bool = false, effort: Int = 2, chroma: Chroma = .automatic) {
            self.lossless = lossless
            self.effort = effort
            self.chroma = chroma
        }
    }
}
