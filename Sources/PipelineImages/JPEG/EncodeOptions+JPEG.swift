extension EncodeOptions {
    /// How JPEG is written.
    public var jpeg: JPEG {
        get { self[JPEG()] }
        set { self[JPEG()] = newValue }
    }

    /// The options of JPEG.
    public struct JPEG: Sendable, Hashable {
        /// Whether the file holds a coarse picture first, then refinements; `false` by default. It gets a few percent
        /// smaller at most, a thumbnail less than one, and takes twice as long to write and to read.
        public var progressive: Bool
        /// The chroma subsampling; ``Chroma/automatic`` by default.
        public var chroma: Chroma
        /// Whether the Huffman codes are optimized for the picture; `true` by default. It takes twice the time and
        /// makes the file a few percent smaller. Progressive files always are optimized.
        public var optimizesCodes: Bool

        /// Creates options; omitted ones have their defaults.
        package init(progressive: Bool = false, chroma: Chroma = .automatic, optimizesCodes: Bool = true) {
            self.progressive = progressive
            self.chroma = chroma
            self.optimizesCodes = optimizesCodes
        }
    }

    /// The chroma subsampling: how many pixels share a colour. Each has its own brightness.
    public enum Chroma: String, Sendable, Hashable, CaseIterable {
        /// 4:4:4 from quality 90, 4:2:0 below.
        case automatic
        /// 4:4:4: each pixel has its own colour. For drawings and coloured text.
        case full = "4:4:4"
        /// 4:2:2: two adjacent pixels share a colour. Other formats than JPEG use 4:4:4 instead.
        case half = "4:2:2"
        /// 4:2:0: two by two pixels share a colour. For photographs.
        case quarter = "4:2:0"

        /// The subsampling to write at a quality.
        func resolved(quality: Int) -> Chroma {
            self == .automatic ? (quality >= 90 ? .full : .quarter) : self
        }
    }
}
