#if Vips
import CVips
import Pipeline

/// A file opened by libvips. Its bytes have to outlive it.
final class VipsFile {
    let header: cvips_header
    private let image: OpaquePointer
    private let format: ImageFormat

    init(
        _ bytes: UnsafeBufferPointer<UInt8>, format: ImageFormat, loader: cvips_loader, allowDamage: Bool = false,
        call: inout VipsCall
    ) throws {
        guard let start = bytes.baseAddress else {
            throw LoadError(.undecodable, subject: "", "The \(format) file is empty.")
        }
        let options = cvips_options(loader: loader, allow_damage: allowDamage)
        var header = cvips_header()
        guard let image = cvips_open(start, bytes.count, options, call.cancellation, &header, &call.failure) else {
            throw Self.damaged(format, call)
        }
        self.image = image
        self.header = header
        self.format = format
    }

    deinit { cvips_close(image) }

    func imageHeader(format: ImageFormat) -> ImageHeader {
        var result = ImageHeader(
            format: format, storedSize: PixelSize(width: Int(header.width), height: Int(header.height)),
            orientation: ImageOrientation(rawValue: Int(header.orientation)) ?? .up, frames: Int(header.frames),
            hasAlpha: header.has_alpha, hasProfile: header.has_profile, bitsPerChannel: Int(header.bits))
        result.take(profile: pendingProfile)
        return result
    }

    /// Decodes the picture, scaled and upright.
    func decode(
        header source: ImageHeader, plan: ResamplePlan, cancellation: WorkCancellation, call: inout VipsCall
    ) throws -> DecodedImage {
        guard let layout = PixelLayout.known(channelCount: Int(header.channels)) else {
            throw LoadError(.undecodable, subject: "", "The \(format) file has \(header.channels) channels.")
        }
        return try source.image(
            try pixels(plan, source.storedRegion, layout, cancellation, &call), size: plan.target, layout: layout,
            profile: pendingProfile, cancellation)
    }

    /// The picture's size as libvips reports it.
    var size: PixelSize { PixelSize(width: Int(header.width), height: Int(header.height)) }

    /// The profile that the pixels have to be converted from.
    private var pendingProfile: [UInt8]? {
        var count = 0
        guard let start = cvips_pending_profile(image, &count) else { return nil }
        return Array(UnsafeBufferPointer(start: start, count: count))
    }

    /// Reads rows. They have to be requested in order.
    func read(_ top: Int, _ count: Int, into rows: UnsafeMutablePointer<UInt8>, _ call: inout VipsCall) throws {
        guard cvips_read_rows(image, Int32(top), Int32(count), rows, &call.failure) else {
            throw Self.damaged(format, call)
        }
    }

    private func pixels(
        _ plan: ResamplePlan, _ window: PixelRegion, _ layout: PixelLayout, _ cancellation: WorkCancellation,
        _ call: inout VipsCall
    ) throws -> [UInt8] {
        let sink = try RowSink(plan, window: window, of: size.width, layout: layout, cancellation: cancellation)
        let count = 32
        let strip = UnsafeMutablePointer<UInt8>.allocate(capacity: count * size.width * layout.channelCount)
        defer { strip.deallocate() }
        for top in stride(from: 0, to: window.bottom, by: count) {
            let rows = min(count, window.bottom - top)
            try read(top, rows, into: strip, &call)
            sink.push(strip, count: rows)
        }
        return sink.finish()
    }

    private static func damaged(_ format: ImageFormat, _ call: VipsCall) -> LoadError {
        // The words of libvips and its libraries for known features that they can't read.
        if ["not supported", "unsupported"].contains(where: call.message.contains) {
            return LoadError(
                .unsupportedType, subject: "",
                "The \(format) file is of a kind that isn't read (\(call.message)); save it as another, or as a PNG.")
        }
        return LoadError(
            .undecodable, subject: "", "The \(format) file is damaged or cut off (\(call.message)); get a new copy.")
    }
}
#endif
