#if AVIF
import CAVIF
import Pipeline

/// A decoded AVIF picture as libavif holds it: luma and chroma planes.
final class AVIFPlanes {
    private let still: OpaquePointer
    private let canvas: PixelSize
    private let format: ImageFormat
    /// libavif keeps pointers into these.
    private var files: [UnsafeMutableBufferPointer<UInt8>] = []

    /// - Throws: `undecodable` if memory can't be allocated.
    init(_ canvas: PixelSize, format: ImageFormat) throws {
        guard let still = cavif_still_new() else {
            throw LoadError(.undecodable, subject: "", "The \(format) picture can't be decoded: out of memory.")
        }
        self.still = still
        self.canvas = canvas
        self.format = format
    }

    deinit {
        cavif_still_free(still)
        for file in files { file.deallocate() }
    }

    /// Decodes one item to its place on the canvas.
    func add(_ item: HEIFCodedItem, in bytes: [UInt8], colors: ISOBox?, left: Int, top: Int, isAlpha: Bool) throws {
        let contents = item.file(in: bytes, colors: isAlpha ? nil : colors)
        let file = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: contents.count)
        _ = file.initialize(from: contents)
        files.append(file)
        guard let start = file.baseAddress else { return }
        let place = cavif_tile(
            width: Int32(canvas.width), height: Int32(canvas.height), left: Int32(left), top: Int32(top),
            is_alpha: isAlpha)
        let pixels = (PixelSize.larger(item.coded, item.size) ?? item.size).bytes(1)
        var failure = cavif_failure()
        guard cavif_still_add(still, start, file.count, pixels, place, &failure) else {
            throw LoadError(
                .undecodable, subject: "",
                "The \(format) file is damaged or cut off (\(failure.words)); get a new copy.")
        }
    }

    /// Returns the whole picture in the file's colours, with 8 or 16 bits a channel.
    func pixels(_ layout: PixelLayout, isPremultiplied: Bool) throws -> [UInt8] {
        let count = canvas.bytes(layout.bytesPerPixel)
        return try [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            var failure = cavif_failure()
            guard let start = buffer.baseAddress,
                cavif_still_rgb(
                    still, Int32(layout.channelCount), layout.isDeep ? 16 : 8, isPremultiplied, start, &failure)
            else {
                throw LoadError(
                    .unsupportedType, subject: "",
                    "The colours of the \(format) file are of a kind that isn't read (\(failure.words)); "
                        + "save it in sRGB, or as a PNG.")
            }
            filled = count
        }
    }

    /// Scales a picture of more than 8 bits plane by plane, before its colours become RGB.
    ///
    /// Returns `nil` if the depth, the colours or the crop don't allow it.
    func scaled(
        _ geometry: HEIFGeometry, to target: PixelSize, quality: DecodeQuality, _ cancellation: WorkCancellation
    ) throws -> [UInt8]? {
        let planes = cavif_still_planes(still)
        guard planes.depth > 8, let conversion = AVIFColors(planes), geometry.left % Int(planes.across) == 0,
            geometry.top % Int(planes.down) == 0
        else { return nil }
        let rows = [planes.rows.0, planes.rows.1, planes.rows.2]
        let lengths = [planes.row_bytes.0, planes.row_bytes.1, planes.row_bytes.2]
        var samples: [[Int16]] = []
        for index in 0..<Int(planes.count) {
            guard let start = rows[index] else { return nil }
            let (across, down) = index == 0 ? (1, 1) : (Int(planes.across), Int(planes.down))
            var plan = ResamplePlan(
                from: PixelSize(
                    width: (geometry.size.width + across - 1) / across,
                    height: (geometry.size.height + down - 1) / down),
                to: target, reserve: quality.blockReserve)
            plan.extent = (Double(geometry.size.width) / Double(across), Double(geometry.size.height) / Double(down))
            plan.setBlock(reserve: quality.blockReserve)
            let first = start + geometry.top / down * lengths[index] + geometry.left / across * 2
            samples.append(try Self.scaled(first, lengths[index], plan, Int(planes.depth), cancellation))
        }
        return conversion.rgb(samples, count: target.bytes(1))
    }

    private static func scaled(
        _ start: UnsafePointer<UInt8>, _ stride: Int, _ plan: ResamplePlan, _ depth: Int,
        _ cancellation: WorkCancellation
    ) throws -> [Int16] {
        let resampler = try Resampler(plan, layout: .gray, keepsSamples: true, cancellation: cancellation)
        for row in 0..<plan.source.height {
            if row % 32 == 0 { try cancellation.check() }
            let values = UnsafeRawPointer(start + row * stride).assumingMemoryBound(to: UInt16.self)
            resampler.push(deep: values, depth: depth)
        }
        resampler.finish()
        return resampler.samples
    }
}
#endif
