import Pipeline

/// Finds the highest quality at which a file fits a number of bytes, assuming that files grow with quality.
struct QualitySearch {
    let format: ImageFormat
    /// The quality tried first, and never exceeded.
    let highest: Int
    let maxBytes: Int

    /// - Parameter encode: Makes the file at a quality.
    /// - Throws: `LoadError.Code.unencodable` if not even quality 1 fits.
    func run(_ encode: (Int) throws -> [UInt8]) throws -> (bytes: [UInt8], quality: Int) {
        let first = try encode(highest)
        if first.count <= maxBytes { return (first, highest) }
        var best: (bytes: [UInt8], quality: Int)?
        var smallest = first.count
        var (low, high) = (1, highest - 1)
        while low <= high {
            let quality = (low + high) / 2
            let bytes = try encode(quality)
            smallest = min(smallest, bytes.count)
            if bytes.count <= maxBytes {
                best = (bytes, quality)
                low = quality + 1
            } else {
                high = quality - 1
            }
        }
        guard let best else { throw refusal(smallest: smallest, "even at quality 1") }
        return best
    }

    /// The error if nothing fits.
    func refusal(smallest: Int, _ circumstance: String) -> LoadError {
        LoadError(
            .unencodable, subject: "",
            "The \(format) file has \(smallest) bytes \(circumstance); maxBytes allows \(maxBytes). Raise it, set a "
                + "smaller maxPixelSize, or choose another format.")
    }
}
