import Essentials
import LibC
public import Pipeline

extension DecodedImage {
    /// Draws the placeholder of a BlurHash (the format of blurha.sh), made by ``blurHash(columns:rows:)`` or elsewhere.
    ///
    /// ```swift
    /// let placeholder = try DecodedImage(blurHash: "LUHe]%opPZq3n1=We2Lb#NjO1NVY", size: 32)
    /// ```
    ///
    /// The text has no aspect ratio, so the size says it. 32 pixels are enough to be enlarged to any view: it takes
    /// microseconds and may run on any thread.
    /// - Parameters:
    ///   - text: The hash. It may come from anywhere: damaged text is an error.
    ///   - size: The size of the placeholder, each side 1 to 1000 pixels.
    /// - Throws: `LoadError` with `undecodable` if the text isn't a BlurHash, with `tooManyPixels` if the size is out of
    ///   its range.
    public init(blurHash text: String, size: PixelSize) throws(LoadError) {
        try PlaceholderWaves.check(size)
        self = try BlurHashText(text).image(of: size)
    }

    /// Draws the placeholder of a ThumbHash (the format of evanw.github.io/thumbhash), made by ``thumbHash()`` or
    /// elsewhere. It is transparent where the picture was.
    /// - Parameters:
    ///   - bytes: The hash. It may come from anywhere: damaged bytes are an error.
    ///   - size: The size of the placeholder, each side 1 to 1000 pixels; by default the longer side has 32 pixels, and
    ///     the other one follows from the approximate aspect ratio in the hash.
    /// - Throws: `LoadError` with `undecodable` if the bytes aren't a ThumbHash, with `tooManyPixels` if the size is out
    ///   of its range.
    public init(thumbHash bytes: [UInt8], size: PixelSize? = nil) throws(LoadError) {
        if let size { try PlaceholderWaves.check(size) }
        self = try ThumbHashBytes(bytes).image(of: size)
    }

    /// Draws the placeholder of a ThumbHash in base64 (RFC 4648 section 4), as it is usually sent.
    /// - Parameters:
    ///   - base64: The hash.
    ///   - size: The size of the placeholder, each side 1 to 1000 pixels; by default as for bytes.
    /// - Throws: `LoadError` with `undecodable` if the text isn't a ThumbHash in base64, with `tooManyPixels` if the size
    ///   is out of its range.
    public init(thumbHash base64: String, size: PixelSize? = nil) throws(LoadError) {
        guard let bytes = Data(base64Encoded: base64) else {
            throw PlaceholderWaves.damaged("ThumbHash", "it isn't base64")
        }
        try self.init(thumbHash: [UInt8](bytes), size: size)
    }
}

/// Cosine waves across and down a placeholder, each with an amplitude for every colour.
struct PlaceholderWaves {
    /// Across and down: how often the cosine's half period fits.
    typealias Wave = (across: Int, down: Int, amplitude: SIMD4<Double>)

    private let waves: [Wave]
    /// Where in a pixel the waves are taken: 0 at its left and upper edge, 0.5 in its centre.
    private let offset: Double

    init(_ waves: [Wave], offset: Double) {
        self.waves = waves
        self.offset = offset
    }

    /// Calculates the sum of all waves at each pixel, row by row.
    func forEachPixel(of size: PixelSize, _ body: (SIMD4<Double>) -> Void) {
        let columns = 1 + (waves.map(\.across).max() ?? 0)
        let across = (0..<columns).map { wave in (0..<size.width).map { cosine(wave, $0, size.width) } }
        for y in 0..<size.height {
            var row = [SIMD4<Double>](repeating: SIMD4(), count: columns)
            for wave in waves { row[wave.across] += wave.amplitude * cosine(wave.down, y, size.height) }
            for x in 0..<size.width {
                var sum = SIMD4<Double>()
                for wave in 0..<columns { sum += row[wave] * across[wave][x] }
                body(sum)
            }
        }
    }

    private func cosine(_ wave: Int, _ place: Int, _ side: Int) -> Double {
        cos(.pi * Double(wave) * (Double(place) + offset) / Double(side))
    }

    /// A placeholder's size may come from the data that has the hash.
    static func check(_ size: PixelSize) throws(LoadError) {
        guard (1...1000).contains(size.width), (1...1000).contains(size.height) else {
            throw LoadError(
                .tooManyPixels, subject: "",
                "A placeholder has 1 to 1000 pixels a side, not \(size). Draw a small one and enlarge it.")
        }
    }

    static func damaged(_ kind: String, _ reason: String) -> LoadError {
        LoadError(
            .undecodable, subject: "", "The text or the bytes aren't a \(kind): \(reason). Make the hash again.")
    }
}
