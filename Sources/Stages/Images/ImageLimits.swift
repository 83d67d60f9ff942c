import Pipeline

/// What a picture may cost at most. All of it is checked on the header, before a pixel is decoded.
public struct ImageLimits: Sendable, Hashable {
    /// Pixels, as stored and as coded, of all frames that are decoded; 50 million by default.
    public var pixels: Int
    /// Bytes of the file; 64 million by default.
    public var encodedBytes: Int
    /// Frames; 1 by default. Of an animation with more, the first ones are decoded: no error.
    /// Of a TIFF with several pages it is always the first page.
    public var frames: Int

    /// Sets limits; what is left out has its default.
    public init(pixels: Int = 50_000_000, encodedBytes: Int = 64_000_000, frames: Int = 1) {
        self.pixels = pixels
        self.encodedBytes = encodedBytes
        self.frames = max(1, frames)
    }

    /// Looks at a file before its header is read.
    /// - Throws: `tooManyBytes`.
    func check(encodedBytes count: Int) throws(LoadError) {
        guard count > encodedBytes else { return }
        throw LoadError(
            .tooManyBytes, subject: "", "The file has \(count) bytes; \(encodedBytes) are allowed. Raise the limit.")
    }

    /// Looks at a header before its pixels are decoded.
    /// - Throws: `tooManyPixels`; `undecodable` if the picture has
    ///   no pixels.
    func check(_ header: ImageHeader) throws(LoadError) {
        let size = header.storedSize
        guard size.width > 0, size.height > 0 else {
            throw LoadError(.undecodable, subject: "", "The \(header.format) file's picture has no pixels.")
        }
        let decoded = max(1, min(header.frames, frames))
        let largest = exceeds(size, times: decoded) ? size : header.codedSize
        guard exceeds(largest, times: decoded) else { return }
        let count = decoded > 1 ? "\(decoded) frames of \(largest)" : "\(largest)"
        throw LoadError(
            .tooManyPixels, subject: "",
            "The picture has \(count) pixels; \(pixels) are allowed in all. Raise the limit of pixels.")
    }

    private func exceeds(_ size: PixelSize, times frames: Int) -> Bool {
        let (area, areaOverflows) = size.width.multipliedReportingOverflow(by: size.height)
        let (total, totalOverflows) = area.multipliedReportingOverflow(by: frames)
        return areaOverflows || totalOverflows || total > pixels
    }
}
