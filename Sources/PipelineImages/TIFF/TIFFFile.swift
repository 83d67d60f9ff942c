#if TIFF
import CTIFF
import Pipeline

/// A file opened by libtiff. Its bytes have to outlive it.
final class TIFFFile {
    private let file: OpaquePointer
    private let header: ctiff_header
    private let cancellation: WorkCancellation

    init(_ bytes: UnsafeBufferPointer<UInt8>, allowDamage: Bool, cancellation: WorkCancellation) throws {
        guard let start = bytes.baseAddress else { throw Self.damaged("it is empty") }
        // The file keeps the pointer, and this object retains what it points to.
        let watch = ctiff_cancellation(
            is_cancelled: { Unmanaged<WorkCancellation>.fromOpaque($0).takeUnretainedValue().isCancelled },
            context: Unmanaged.passUnretained(cancellation).toOpaque())
        var header = ctiff_header()
        var failure = ctiff_failure()
        guard let file = ctiff_open(start, bytes.count, allowDamage, watch, &header, &failure) else {
            throw Self.error(failure)
        }
        self.file = file
        self.header = header
        self.cancellation = cancellation
    }

    deinit { ctiff_close(file) }

    /// The first picture's header.
    var imageHeader: ImageHeader {
        var result = ImageHeader(
            format: .tiff, storedSize: size, orientation: ImageOrientation(rawValue: Int(header.orientation)) ?? .up,
            hasAlpha: layout.hasAlpha && !isInk, hasProfile: header.has_profile,
            bitsPerChannel: Int(header.bits))
        result.colors = header.is_grey ? .gray : isInk ? .cmyk : .rgb
        result.memory = header.memory
        result.holdsDepth = header.is_deep
        result.take(profile: profile)
        return result
    }

    var size: PixelSize { PixelSize(width: Int(header.width), height: Int(header.height)) }

    /// Grey, RGB or RGBA; RGBA stands for CMYK too.
    var layout: PixelLayout { PixelLayout.known(channelCount: Int(header.channels)) ?? .rgba }

    /// Whether the channels are cyan, magenta, yellow and black.
    var isInk: Bool { header.is_ink }

    /// The ICC profile of the rows' colours.
    var profile: [UInt8]? {
        var count = 0
        guard let start = ctiff_profile(file, &count) else { return nil }
        return Array(UnsafeBufferPointer(start: start, count: count))
    }

    /// Decodes the pixels of a window, scaled.
    func pixels(_ plan: ResamplePlan, _ window: PixelRegion) throws -> [UInt8] {
        var failure = ctiff_failure()
        let columns = (UInt32(window.x), UInt32(window.right))
        let first = Int(ctiff_begin(file, UInt32(window.y), columns.0, columns.1, &failure))
        guard first >= 0 else {
            try cancellation.check()
            throw Self.error(failure)
        }
        var rest = window
        rest.y -= first
        let sink = try RowSink(
            plan, window: rest, of: size.width, layout: layout, isInk: isInk, cancellation: cancellation)
        let count = 16
        let strip = UnsafeMutablePointer<UInt8>.allocate(capacity: count * size.width * layout.channelCount)
        defer { strip.deallocate() }
        for top in stride(from: 0, to: rest.bottom, by: count) {
            let rows = min(count, rest.bottom - top)
            guard ctiff_read_rows(file, UInt32(rows), strip, &failure) else {
                try cancellation.check()
                throw Self.error(failure)
            }
            sink.push(strip, count: rows)
        }
        return sink.finish()
    }

    /// Decodes the samples of a window with 16 bits each.
    func samples(_ window: PixelRegion) throws -> [UInt8] {
        var failure = ctiff_failure()
        let first = Int(
            ctiff_begin(file, UInt32(window.y), UInt32(window.x), UInt32(window.right), &failure))
        guard first >= 0 else {
            try cancellation.check()
            throw Self.error(failure)
        }
        let channels = layout.channelCount
        var samples: [UInt8] = []
        samples.reserveCapacity(window.size.bytes(2 * channels))
        var row = [UInt16](repeating: 0, count: size.width * channels)
        for y in first..<window.bottom {
            guard ctiff_read_deep_rows(file, 1, &row, &failure) else {
                try cancellation.check()
                throw Self.error(failure)
            }
            guard y >= window.y else { continue }
            row[window.x * channels..<window.right * channels].withUnsafeBytes { samples.append(contentsOf: $0) }
        }
        return samples
    }

    private static func error(_ failure: ctiff_failure) -> LoadError {
        let words = failure.words
        // libtiff's words for known features that it can't read.
        let isUnsupported = ["not supported", "unsupported", "not configured", "annot handle", "Sorry"]
            .contains(where: words.contains)
        guard failure.is_unsupported || isUnsupported else { return damaged(words) }
        return LoadError(
            .unsupportedType, subject: "",
            "The image/tiff file is of a kind that is not supported (\(words)); save it as another, or as a PNG.")
    }

    static func damaged(_ reason: String) -> LoadError {
        LoadError(.undecodable, subject: "", "The image/tiff file is damaged or cut off (\(reason)); get a new copy.")
    }
}

extension ctiff_failure {
    /// libtiff's error message.
    var words: String { withUnsafeBytes(of: message) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) } }
}
#endif
