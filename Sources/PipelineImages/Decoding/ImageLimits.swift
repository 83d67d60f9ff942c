import Pipeline

/// Limits what decoding a picture may cost. All but the time are checked before a pixel is decoded.
public struct ImageLimits: Sendable, Hashable {
    /// Pixels of all decoded frames, as stored and as coded; 50 million by default.
    public var pixels: Int
    /// Pixels of the longest side, as stored and as coded; 100,000 by default, which no format but PNG, TIFF and BMP
    /// can exceed. A long, narrow picture costs more memory and time than its number of pixels suggests.
    public var side: Int
    /// Bytes of the file; 64 million by default.
    public var encodedBytes: Int
    /// Frames; 1 by default. Of an animation with more, only the first ones are decoded, without an error. Of a TIFF
    /// with several pages, it is always the first page.
    public var frames: Int

    /// Bytes of memory that decoding needs at its peak, as estimated from the header: the picture at its requested
    /// size, and what its format needs besides, such as all coefficients of a progressive JPEG or all pixels of a GIF.
    /// 1 GB by default. A ``MemoryBudget`` limits all decodes together.
    public var memory: Int
    /// How long all work on one picture may take together, waits not counted; 30 seconds by default, `nil` for no limit.
    /// It covers the header, the decode, transforms and ``Encode``, so a large AVIF of high effort may need more. A
    /// transform that isn't a ``PixelTransform`` isn't counted. AVIF, HEIC, WebP and PNG can't always be stopped: the
    /// load fails in time, but the library finishes on its thread.
    public var time: Duration?

    /// Creates limits; omitted ones have their defaults.
    public init(
        pixels: Int = 50_000_000, side: Int = 100_000, encodedBytes: Int = 64_000_000, frames: Int = 1,
        memory: Int = 1_000_000_000, time: Duration? = .seconds(30)
    ) {
        self.side = side
        self.memory = memory
        self.time = time
        self.pixels = pixels
        self.encodedBytes = encodedBytes
        self.frames = max(1, frames)
    }

    /// Checks a file's size before its header is read.
    /// - Throws: `tooManyBytes`.
    func check(encodedBytes count: Int) throws(LoadError) {
        guard count > encodedBytes else { return }
        throw LoadError(
            .tooManyBytes, subject: "",
            "The file has \(count) bytes; \(encodedBytes) are allowed. Raise the limit of source bytes.")
    }

    /// Checks a header before its pixels are decoded.
    /// - Throws: `tooManyPixels`; `undecodable` if the picture has no pixels.
    func check(_ header: ImageHeader) throws(LoadError) {
        let size = header.storedSize
        guard size.width > 0, size.height > 0 else {
            throw LoadError(.undecodable, subject: "", "The \(header.format) file's picture has no pixels.")
        }
        for size in [size, header.codedSize] where max(size.width, size.height) > side {
            throw LoadError(
                .tooManyPixels, subject: "",
                "The picture has \(size) pixels; a side may have \(side). Raise the limit of a side.")
        }
        let decoded = max(1, min(header.frames, frames))
        let largest = exceeds(size, times: decoded) ? size : header.codedSize
        guard exceeds(largest, times: decoded) else { return }
        let count = decoded > 1 ? "\(decoded) frames of \(largest)" : "\(largest)"
        throw LoadError(
            .tooManyPixels, subject: "",
            "The picture has \(count) pixels; \(pixels) are allowed in all. Raise the limit of pixels.")
    }

    /// Checks the estimated memory of a decode before it begins.
    /// - Throws: `tooMuchMemory`.
    func check(memory count: Int) throws(LoadError) {
        guard count > memory else { return }
        throw LoadError(
            .tooMuchMemory, subject: "",
            "Decoding the picture needs about \(count) bytes of memory; \(memory) are allowed. Raise the limit of memory, "
                + "or ask for a smaller picture.")
    }

    private func exceeds(_ size: PixelSize, times frames: Int) -> Bool {
        let (area, areaOverflows) = size.width.multipliedReportingOverflow(by: size.height)
        let (total, totalOverflows) = area.multipliedReportingOverflow(by: frames)
        return areaOverflows || totalOverflows || total > pixels
    }
}
