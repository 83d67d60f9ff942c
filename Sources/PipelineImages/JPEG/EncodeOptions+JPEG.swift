extension EncodeOptions {
    /// How JPEG is written.
    public var jpeg: JPEG {
        get { self[JPEG()] }
        set { self[JPEG()] = newValue }
    }

    /// The options of JPEG.
    public struct JPEG: Sendable, Hashable {
        /// Whether a coarse picture comes first and the finer ones after it; `false` by default. The file is at most a
        /// few percent smaller, of a thumbnail not even one, and writing and reading it take twice as long.
        public var progressive: Bool
        /// How many pixels share a colour; ``Chroma/automatic`` by default.
        public var chroma: Chroma
        /// Whether the Huffman codes are made for this picture, which takes a few percent off the file and twice the
        /// time; `true` by default. A progressive file's always are.
        public var optimizesCodes: Bool

        /// Sets options; what is left out has its default.
        public init(progressive: Bool = false, chroma: Chroma = .automatic, optimizesCodes: Bool = true) {
            self.progressive = progressive
            self.chroma = chroma
            self.optimizesCodes = optimizesCodes
        }
    }

    /// How many pixels share a colour; each has a brightness of its own.
    public enum Chroma: String, Sendable, Hashable, CaseIterable {
        /// 4:4:4 from a quality of 90 on, 4:2:0 below.
        case automatic
        /// 4:4:4: none. For drawings, and text in colours.
        case full = "4:4:4"
        /// 4:2:2: two side by side. Only JPEG has it; elsewhere it counts as 4:4:4.
        case half = "4:2:2"
        /// 4:2:0: two by two. For photographs.
        case quarter = "4:2:0"

        /// What is written at a quality.
        func resolved(quality: Int) -> Chroma {
            self == .automatic ? (quality >= 90 ? .full : .quarter) : self
        }
    }
}
