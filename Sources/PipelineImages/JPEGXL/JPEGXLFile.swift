#if JPEGXL
import CJXL
import Pipeline

/// A codestream opened by libjxl. Its bytes have to outlive it.
final class JPEGXLFile {
    let header: cjxl_header
    private let file: OpaquePointer
    private let cancellation: WorkCancellation

    /// - Parameter decodes: Whether frames are to be decoded, rather than counted.
    init(_ bytes: UnsafeBufferPointer<UInt8>, decodes: Bool, _ cancellation: WorkCancellation) throws {
        try cancellation.check()
        // libjxl checks for cancellation only during calls, and this object outlives them.
        let watch = cjxl_cancellation(
            is_cancelled: { Unmanaged<WorkCancellation>.fromOpaque($0).takeUnretainedValue().isCancelled },
            context: Unmanaged.passUnretained(cancellation).toOpaque())
        var failure = cjxl_failure()
        guard cjxl_is_available(&failure) else {
            throw LoadError(.unsupportedType, subject: "", "The image/jxl file can't be read: \(failure.words).")
        }
        var header = cjxl_header()
        guard let start = bytes.baseAddress,
            let file = cjxl_open(start, bytes.count, decodes, watch, &header, &failure)
        else { throw Self.damaged(failure.words) }
        self.cancellation = cancellation
        self.header = header
        self.file = file
    }

    deinit { cjxl_close(file) }

    /// The layout of the pixels.
    var layout: PixelLayout { header.has_alpha ? .rgba : header.is_grey ? .gray : .rgb }

    /// The ICC profile of the pixels; empty if ``colors`` describe them.
    var profile: [UInt8] {
        var count = 0
        guard let start = cjxl_profile(file, &count) else { return [] }
        return Array(UnsafeBufferPointer(start: start, count: count))
    }

    /// The colours of the pixels; `nil` for sRGB, or if a profile describes them.
    var colors: CodedColors? {
        let colors = CodedColors(
            primaries: Int(header.primaries), transfer: Int(header.transfer), matrix: 0, isFullRange: true)
        return colors.differsFromSRGB ? colors : nil
    }

    /// - Throws: `unsupportedType` for inks.
    func imageHeader() throws -> ImageHeader {
        guard !header.is_ink else {
            throw LoadError(
                .unsupportedType, subject: "",
                "The image/jxl file has CMYK colours, which are not supported; save it in RGB, or as a TIFF.")
        }
        let profile = profile
        var result = ImageHeader(
            format: .jxl, storedSize: PixelSize(width: Int(header.width), height: Int(header.height)),
            frames: header.is_animated ? max(1, Int(cjxl_count_frames(file))) : 1, loopCount: Int(header.loops),
            hasAlpha: header.has_alpha, hasProfile: !profile.isEmpty, bitsPerChannel: Int(header.bits))
        result.colors = header.is_grey ? .gray : .rgb
        result.take(profile: profile)
        result.take(colors)
        result.memory = memory(of: result)
        return result
    }

    /// Estimates the memory of libjxl and of the unscaled pixels, as measured: a still picture's samples in two forms,
    /// or an animation's and four earlier frames.
    private func memory(of header: ImageHeader) -> Int {
        let channels = Int(self.header.stored_channels)
        return header.storedSize.bytes(header.frames > 1 ? 24 * channels : max(16, 8 * channels + 4))
    }

    /// Decodes the next frame.
    /// - Returns: How long it is shown, in milliseconds.
    func read(into pixels: UnsafeMutableBufferPointer<UInt8>, allowTruncated: Bool) throws -> Double {
        try cancellation.check()
        var failure = cjxl_failure()
        var duration = 0.0
        guard let start = pixels.baseAddress,
            cjxl_next(file, allowTruncated, start, pixels.count, &duration, &failure)
        else {
            try cancellation.check()
            throw Self.damaged(failure.words)
        }
        return duration
    }

    static func damaged(_ reason: String) -> LoadError {
        LoadError(.undecodable, subject: "", "The image/jxl file is damaged or cut off (\(reason)); get a new copy.")
    }
}

extension cjxl_failure {
    /// The error message.
    fileprivate var words: String {
        withUnsafeBytes(of: message) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }
}
#endif
