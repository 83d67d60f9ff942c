import CImages
import LibC
import Pipeline

/// A file opened by libjpeg. Its bytes have to outlive it.
final class JPEGFile {
    private let file: OpaquePointer
    private let header: cjpeg_header
    private let cancellation: WorkCancellation

    init(_ bytes: UnsafeBufferPointer<UInt8>, allowDamage: Bool, cancellation: WorkCancellation) throws {
        guard let start = bytes.baseAddress else { throw Self.damaged("it is empty") }
        // The file keeps the pointer, and this object retains what it points to.
        let watch = cjpeg_cancellation(
            is_cancelled: { Unmanaged<WorkCancellation>.fromOpaque($0).takeUnretainedValue().isCancelled },
            context: Unmanaged.passUnretained(cancellation).toOpaque())
        var header = cjpeg_header()
        var failure = cjpeg_failure()
        guard let file = cjpeg_open(start, bytes.count, allowDamage, watch, &header, &failure) else {
            try cancellation.check()
            throw Self.error(failure)
        }
        self.file = file
        self.header = header
        self.cancellation = cancellation
    }

    deinit { cjpeg_close(file) }

    /// The bytes that libjpeg holds of the picture while it decodes.
    var codecMemory: Int { header.memory }

    /// Grey or RGB; RGBA stands for CMYK.
    var layout: PixelLayout { header.channels == 1 ? .gray : header.channels == 3 ? .rgb : .rgba }

    /// Whether the channels are cyan, magenta, yellow and black.
    var isInk: Bool { header.channels == 4 }

    var imageHeader: ImageHeader {
        var size = 0
        let exif = cjpeg_exif(file, &size).flatMap { EXIFBlock(UnsafeBufferPointer(start: $0, count: size)) }
        let profile = profile
        var result = ImageHeader(
            format: .jpeg, storedSize: PixelSize(width: Int(header.width), height: Int(header.height)),
            orientation: exif?.orientation ?? .up, hasProfile: profile != nil)
        result.colors = header.channels == 1 ? .gray : isInk ? .cmyk : .rgb
        result.readsRegions = true
        result.memory = codecMemory
        result.take(profile: profile)
        result.hasProvenance = header.has_provenance
        return result
    }

    /// The ICC profile.
    var profile: [UInt8]? {
        var size = 0
        guard let start = cjpeg_profile(file, &size) else { return nil }
        defer { free(start) }
        return Array(UnsafeBufferPointer(start: start, count: size))
    }

    /// Starts decoding at the scale eighths/8 and returns the resulting size. For a file with several scans, this is
    /// most of the work.
    func start(eighths: Int) throws -> PixelSize {
        var (width, height) = (Int32(0), Int32(0))
        var failure = cjpeg_failure()
        guard cjpeg_start(file, Int32(eighths), &width, &height, &failure) else {
            try cancellation.check()
            throw Self.error(failure)
        }
        return PixelSize(width: Int(width), height: Int(height))
    }

    /// Limits decoding to a window of the scaled picture, as far as that saves work. Returns the region that is
    /// decoded.
    func narrow(to window: PixelRegion) throws -> PixelRegion {
        var (left, top, width) = (Int32(window.x), Int32(window.y), Int32(window.size.width))
        var failure = cjpeg_failure()
        guard cjpeg_narrow(file, &left, &top, &width, &failure) else {
            try cancellation.check()
            throw Self.error(failure)
        }
        return PixelRegion(
            x: Int(left), y: Int(top), size: PixelSize(width: Int(width), height: window.bottom - Int(top)))
    }

    /// Decodes all rows.
    func pixels(size: PixelSize, layout: PixelLayout) throws -> [UInt8] {
        let count = size.width * size.height * layout.channelCount
        return try [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            guard let start = buffer.baseAddress else { return }
            try read(size.height, into: start)
            initialized = count
        }
    }

    /// Decodes the rows from top to bottom, a few at a time.
    func forEachStrip(
        size: PixelSize, layout: PixelLayout, _ body: (UnsafePointer<UInt8>, _ rows: Int) throws -> Void
    ) throws {
        // libjpeg decodes a row of blocks at a time.
        let count = 16
        let strip = UnsafeMutablePointer<UInt8>.allocate(capacity: count * size.width * layout.channelCount)
        defer { strip.deallocate() }
        for top in stride(from: 0, to: size.height, by: count) {
            let rows = min(count, size.height - top)
            try read(rows, into: strip)
            try body(strip, rows)
        }
    }

    private func read(_ rows: Int, into pixels: UnsafeMutablePointer<UInt8>) throws {
        var failure = cjpeg_failure()
        guard cjpeg_read(file, pixels, Int32(rows), &failure) == Int32(rows) else {
            try cancellation.check()
            throw Self.error(failure)
        }
    }

    private static func error(_ failure: cjpeg_failure) -> LoadError {
        let words = withUnsafeBytes(of: failure.message) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        guard failure.is_unsupported else { return damaged(words) }
        return LoadError(
            .unsupportedType, subject: "",
            "The image/jpeg file is of a kind that is not supported (\(words)); save it as a baseline or progressive "
                + "JPEG of 8 bits.")
    }

    private static func damaged(_ reason: String) -> LoadError {
        LoadError(
            .undecodable, subject: "", "The image/jpeg file is damaged or cut off (\(reason)); get a new copy.")
    }
}
