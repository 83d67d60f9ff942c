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

        /// The order of the primaries in HEIF: HEVC's message and so the box begin with green (ITU-T H.265 section D.3.28).
        fileprivate static let greenFirst = [2, 0, 1]

        /// The 24 bytes of a chunk `mDCV`, or of a property `mdcv` with green first.
        fileprivate func bytes(isGreenFirst: Bool) -> [UInt8] {
            func field(_ value: Double, _ unit: Double, _ count: Int) -> [UInt8] {
                Int((min(max(0, value * unit), Double(1 << (8 * count) - 1))).rounded()).bigEndian(count)
            }
            let places = (isGreenFirst ? [green, blue, red] : [red, green, blue]) + [white]
            return places.flatMap { field($0.x, 50_000, 2) + field($0.y, 50_000, 2) }
                + [maximumLuminance, minimumLuminance].flatMap { field($0, 10_000, 4) }
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
            guard let file = try HEIFFile(ifPresent: bytes, format: format, cancellation) else { return nil }
            self.init(in: file)
        #endif
        default: return nil
        }
    }

    #if AVIF || HEIC
    /// Reads a file's primary picture; `nil` if it says none of it.
    init?(in file: HEIFFile) {
        guard let primary = file.primary else { return nil }
        let (light, display) = (file.property("clli", of: primary), file.property("mdcv", of: primary))
        self.init(
            display: display.flatMap { Display($0, order: Display.greenFirst) },
            maximumContentLight: light?.number(at: 0, bytes: 2).map(Double.init),
            maximumFrameAverageLight: light?.number(at: 2, bytes: 2).map(Double.init))
    }
    #endif

    #if PNG
    /// Reads a PNG; `nil` if it says none of it.
    /// - Throws: `CancellationError`.
    init?(inPNG bytes: [UInt8], _ cancellation: WorkCancellation) throws {
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

    /// What a file says of it: the bytes of the display and those of the lights; empty where it says nothing.
    /// - Parameter isPNG: Whether for the chunks of PNG, otherwise for the properties of HEIF, which have no fractions of a
    ///   light.
    func blocks(isPNG: Bool) -> (display: [UInt8], light: [UInt8]) {
        let (unit, size) = isPNG ? (10_000.0, 4) : (1.0, 2)
        let lights = maximumContentLight.map { [$0, maximumFrameAverageLight ?? 0] } ?? []
        return (
            display?.bytes(isGreenFirst: !isPNG) ?? [],
            lights.flatMap { light in
                Int(min(max(0, light * unit), Double(1 << (8 * size) - 1)).rounded()).bigEndian(size) as [UInt8]
            }
        )
    }
}
