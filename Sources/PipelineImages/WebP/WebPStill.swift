#if WebP
import CWebP
import Pipeline

/// Decodes a window of a WebP picture at any size, in slices, so that it can stop between two of them.
struct WebPStill {
    /// The part to decode. It starts at even coordinates.
    let window: PixelRegion
    /// The size that the window is scaled to.
    let size: PixelSize
    let layout: PixelLayout

    /// Decodes `fragment`; libwebp crops and scales as it decodes.
    func decode(_ fragment: WebPData, allowTruncated: Bool, cancellation: WorkCancellation) throws -> [UInt8] {
        // The decoder keeps pointers into its configuration.
        let config = UnsafeMutablePointer<WebPDecoderConfig>.allocate(capacity: 1)
        defer { config.deallocate() }
        guard WebPInitDecoderConfig(config) != 0,
            WebPGetFeatures(fragment.bytes, fragment.size, &config.pointee.input) == VP8_STATUS_OK
        else { throw WebPFile.damaged("a frame's header makes no sense") }
        if config.pointee.input.width != window.size.width || config.pointee.input.height != window.size.height {
            config.pointee.options.use_cropping = 1
            config.pointee.options.crop_left = Int32(window.x)
            config.pointee.options.crop_top = Int32(window.y)
            config.pointee.options.crop_width = Int32(window.size.width)
            config.pointee.options.crop_height = Int32(window.size.height)
        }
        if window.size != size {
            config.pointee.options.use_scaling = 1
            config.pointee.options.scaled_width = Int32(size.width)
            config.pointee.options.scaled_height = Int32(size.height)
        }
        let endsEarly = window.bottom < Int(config.pointee.input.height)
        let length = size.width * size.height * layout.channelCount
        return try [UInt8](unsafeUninitializedCapacity: length) { buffer, count in
            // The missing pixels of a truncated file need a value.
            if allowTruncated { buffer.initialize(repeating: 0) }
            config.pointee.output.colorspace = layout.hasAlpha ? MODE_RGBA : MODE_RGB
            config.pointee.output.is_external_memory = 1
            config.pointee.output.u.RGBA.rgba = buffer.baseAddress
            config.pointee.output.u.RGBA.stride = Int32(size.width * layout.channelCount)
            config.pointee.output.u.RGBA.size = length
            guard let decoder = WebPIDecode(nil, 0, config) else { throw WebPFile.damaged("out of memory") }
            defer { WebPIDelete(decoder) }
            try feed(fragment, to: decoder, allowTruncated: allowTruncated, endsEarly: endsEarly, cancellation)
            count = length
        }
    }

    private func feed(
        _ fragment: WebPData, to decoder: OpaquePointer, allowTruncated: Bool, endsEarly: Bool,
        _ cancellation: WorkCancellation
    ) throws {
        // Few bytes may hold many pixels, so small files are fed in small slices.
        let slice = min(1 << 16, max(1 << 10, fragment.size / 64))
        var given = 0
        var status = VP8_STATUS_SUSPENDED
        while given < fragment.size, status == VP8_STATUS_SUSPENDED {
            try cancellation.check()
            given = min(fragment.size, given + slice)
            status = WebPIUpdate(decoder, fragment.bytes, given)
            // The rows below the window aren't decoded.
            var rows: Int32 = 0
            if endsEarly, WebPIDecGetRGB(decoder, &rows, nil, nil, nil) != nil, rows >= size.height { return }
        }
        if status == VP8_STATUS_OK || allowTruncated { return }
        throw WebPFile.damaged(status == VP8_STATUS_SUSPENDED ? "it ends too soon" : "its pixels make no sense")
    }
}
#endif
