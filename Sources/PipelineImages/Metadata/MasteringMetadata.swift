import Pipeline

/// What a file says of the display on which its colours were judged, and of its brightest light.
///
/// It comes from the chunks `mDCV` and `cLLI` of PNG (third edition), and from the properties `mdcv` and `clli` of AVIF and
/// HEIC. Tone mapping doesn't use it.
public struct MasteringMetadata: Sendable, Hashable {
    /// The display of SMPTE ST 2086.
    public struct Display: Sendable, Hashable {
        /// A chromaticity of CIE 1931.
        public struct Place: Sendable, Hashable {
            /// Its coordinates, from 0 to 1.
            public let x, y: Double
        }

        /// The display's primaries and its white.
        public let red, green, blue, white: Place
        /// Its darkest and brightest light in cd/m².
        public let minimumLuminance, maximumLuminance: Double

        /// The fields in the order of ST 2086's use: red, green, blue, white as x and y, the maximum and the minimum.
        package var numbers: [Double] {
            [red, green, blue, white].flatMap { [$0.x, $0.y] } + [maximumLuminance, minimumLuminance]
        }

        /// Takes ``numbers``; `nil` unless there are ten.
        package init?(_ numbers: [Double]) {
            guard numbers.count == 10 else { return nil }
            func place(_ index: Int) -> Place { Place(x: numbers[2 * index], y: numbers[2 * index + 1]) }
            (red, green, blue, white) = (place(0), place(1), place(2), place(3))
            (maximumLuminance, minimumLuminance) = (numbers[8], numbers[9])
        }

        /// Reads 24 bytes that PNG and HEIF share, but for the order of the primaries.
        fileprivate init?(_ content: ArraySlice<UInt8>, order: [Int]) {
            let chromaticities = (order + [3]).flatMap { index in
                [0, 2].compactMap { content.number(at: 4 * index + $0, bytes: 2).map { Double($0) / 50_000 } }
            }
            let lights = [16, 20].compactMap { content.number(at: $0, bytes: 4).map { Double($0) / 10_000 } }
            self.init(chromaticities + lights)
        }
    }

    /// The display; `nil` if the file doesn't describe it.
    public let display: Display?
    /// The light of the brightest pixel in cd/m² (MaxCLL); `nil` if the file doesn't say.
    public let maximumContentLight: Double?
    /// The highest mean light of a frame in cd/m² (MaxFALL); `nil` if the file doesn't say.
    public let maximumFrameAverageLight: Double?

    /// Describes a file; `nil` if it says none of it.
    package init?(display: Display?, maximumContentLight: Double?, maximumFrameAverageLight: Double?) {
        guard display != nil || maximumContentLight != nil else { return nil }
        (self.display, self.maximumContentLight) = (display, maximumContentLight)
        self.maximumFrameAverageLight = maximumFrameAverageLight
    }

    /// Reads a file; `nil` if it says none of it.
    /// - Throws: `LoadError`, `CancellationError`.
    init?(of bytes: [UInt8], _ format: ImageFormat, _ cancellation: WorkCancellation) throws {
        switch format {
        #if PNG
        case .png: try self.init(inPNG: bytes, cancellation)
        #endif
        #if AVIF || HEIC
        case .avif, .heic:
            guard let file = try HEIFFile(ifPresent: bytes, format: format, cancellation), let primary = file.primary
            else { return nil }
            let (light, display) = (file.property("clli", of: primary), file.property("mdcv", of: primary))
            self.init(
                // HEVC's message and so the box begin with green (ITU-T H.265 section D.3.28).
                display: display.flatMap { Display($0, order: [2, 0, 1]) },
                maximumContentLight: light?.number(at: 0, bytes: 2).map(Double.init),
                maximumFrameAverageLight: light?.number(at: 2, bytes: 2).map(Double.init))
        #endif
        default: return nil
        }
    }

    #if PNG
    private init?(inPNG bytes: [UInt8], _ cancellation: WorkCancellation) throws {
        var chunks = PNGChunks(bytes, cancellation)
        var (display, light): (Display?, ArraySlice<UInt8>?)
        while let chunk = try chunks.next(), chunk.kind != .pixels {
            switch chunk.letters {
            case "mDCV" where display == nil && chunk.isWhole(in: bytes):
                display = Display(bytes[chunk.body], order: [0, 1, 2])
            case "cLLI" where light == nil && chunk.isWhole(in: bytes): light = bytes[chunk.body]
            default: continue
            }
        }
        self.init(
            display: display, maximumContentLight: light?.number(at: 0, bytes: 4).map { Double($0) / 10_000 },
            maximumFrameAverageLight: light?.number(at: 4, bytes: 4).map { Double($0) / 10_000 })
    }
    #endif
}
