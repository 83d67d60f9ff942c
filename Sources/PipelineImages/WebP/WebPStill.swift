import CWebP
import Pipeline

/// Decodes one WebP picture at a size of choice, in slices, so that it can stop between two of them.
struct WebPStill {
    let size: PixelSize
    let layout: PixelLayout

    /// Decodes `fragment`, whose own size may be another: libwebp then scales as it decodes.
    func decode(_ fragment: WebPData, allowTruncated: Bool, cancellation: WorkCancellation) throws -> [UInt8] {
        // The decoder keeps pointers into its configuration.
        let config = UnsafeMutablePointer<WebPDecoderConfig>.allocate(capacity: 1)
        defer { config.deallocate() }
        guard WebPInitDecoderConfig(config) != 0,
            WebPGetFeatures(fragment.bytes, fragment.size, &config.pointee.input) == VP8_STATUS_OK
        else { throw WebPFile.damaged("a frame's header makes no sense") }
        if config.pointee.input.width != size.width || config.pointee.input.height != size.height {
            config.pointee.options.use_scaling = 1
            config.pointee.options.scaled_width = Int32(size.width)
            config.pointee.options.scaled_height = Int32(size.height)
        }
        let length = size.width * size.height * layout.channelCount
        return try [UInt8](unsafeUninitializedCapacity: length) { buffer, count in
            // What a file that is cut off doesn't reach has to have some value.
            if allowTruncated { buffer.initialize(repeating: 0) }
            config.pointee.output.colorspace = layout.hasAlpha ? MODE_RGBA : MODE_RGB
            config.pointee.output.is_external_memory = 1
            config.pointee.output.u.RGBA.rgba = buffer.baseAddress
            config.pointee.output.u.RGBA.stride = Int32(size.width * layout.channelCount)
            config.pointee.output.u.RGBA.size = length
            guard let decoder = WebPIDecode(nil, 0, config) else { throw WebPFile.damaged("out of memory") }
            defer { WebPIDelete(decoder) }
            try feed(fragment, to: decoder, allowTruncated: allowTruncated, cancellation)
            count = length
        }
    }

    private func feed(
        _ fragment: WebPData, to decoder: OpaquePointer, allowTruncated: Bool, _ cancellation: WorkCancellation
    ) throws {
        // Few bytes may hold many pixels: small files are fed in small slices.
        let slice = min(1 << 16, max(1 << 10, fragment.size / 64))
        var given = 0
        var status = VP8_STATUS_SUSPENDED
        while given < fragment.size, status == VP8_STATUS_SUSPENDED {
            try cancellation.check()
            given = min(fragment.size, given + slice)
            status = WebPIUpdate(decoder, fragment.bytes, given)
        }
        if status == VP8_STATUS_OK || allowTruncated { return }
        throw WebPFile.damaged(status == VP8_STATUS_SUSPENDED ? "it ends too soon" : "its pixels make no sense")
    }
}
