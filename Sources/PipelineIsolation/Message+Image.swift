import Pipeline
import PipelineImages

extension Message {
    /// The bytes that one frame's delay takes in a slab.
    static let delayBytes = 8

    /// Adds a picture, and writes the delays and then the pixels of its frames to a slab.
    /// - Throws: `LoadError` with `tooMuchMemory` if it doesn't fit, `unsupportedLayout` for pixels that can't be sent.
    mutating func append(
        _ image: DecodedImage, of header: ImageHeader, to slab: UnsafeMutableRawBufferPointer
    ) throws(LoadError) {
        guard
            image.layout.isDeep
                || image.labelled(.sRGB).layout == PixelLayout.known(channelCount: image.layout.channelCount)
        else {
            throw LoadError(
                .unsupportedLayout, subject: "",
                "Pixels of the layout \"\(image.layout)\" can't be sent by the process that decodes. Its decoder has to return "
                    + "8 bits a channel.")
        }
        let start = image.frames.count * Self.delayBytes
        let frameBytes = image.frameBytes * image.frames.count
        guard start + frameBytes <= slab.count else {
            throw LoadError(
                .tooMuchMemory, subject: "",
                "The picture has \(frameBytes) bytes; \(slab.count) are allowed. Raise the pool's limit of pixels, or ask "
                    + "for a smaller picture.")
        }
        append(image.size)
        append(image.layout.channelCount)
        append(Int(image.layout.colorSpace.rawValue))
        append(image.layout.isDeep)
        append(image.frames.count)
        // A decoder of a program's own may tell these only in its header.
        append(image.loopCount == 0 ? 0 : header.loopCount)
        append(header.size)
        append(image.region)
        used = start + frameBytes
        var place = start
        for (index, frame) in image.frames.enumerated() {
            slab.storeBytes(
                of: Int64(min(9e18, frame.delay / .nanoseconds(1))), toByteOffset: index * Self.delayBytes,
                as: Int64.self)
            frame.bytes.withUnsafeBytes { slab.baseAddress?.advanced(by: place).copyBytes(from: $0) }
            place += frame.bytes.count
        }
        append(image.gainMap, to: slab, at: place)
    }
}

extension UnsafeMutableRawPointer {
    func copyBytes(from bytes: UnsafeRawBufferPointer) {
        guard let start = bytes.baseAddress else { return }
        copyMemory(from: start, byteCount: bytes.count)
    }
}

extension Message.Reader {
    /// Copies a picture out of a slab, once.
    /// - Parameters:
    ///   - header: The file's header, as the program has checked it.
    ///   - box: What the picture was to be fitted into.
    ///   - frames: How many frames were asked for.
    /// - Throws: `Message.Malformed` if the picture can't be of that file or doesn't lie in the slab.
    mutating func nextImage(
        of header: ImageHeader, box: PixelSize?, frames wanted: Int, in slab: Slab
    ) throws(Message.Malformed) -> DecodedImage {
        let (size, native) = (header.size(for: box), header.size)
        try nextSize(equalTo: size)
        guard var layout = PixelLayout.known(channelCount: try next(in: 1...4)) else {
            throw Message.Malformed("there is no such layout")
        }
        let colors = try nextColorSpace()
        guard colors == .sRGB || colors == header.pixelColors else {
            throw Message.Malformed("its colours are \(colors.rawValue)")
        }
        if try nextBool() {
            guard header.pixelType == .uint16 else { throw Message.Malformed("it has 16 bits a channel") }
            layout = layout.with(.uint16)
        }
        let count = try next(in: 1...max(1, min(header.frames, wanted)))
        let loopCount = try next(in: 0...Message.largest)
        guard loopCount == 0 || loopCount == header.loopCount else {
            throw Message.Malformed("it plays \(loopCount) times instead of \(header.loopCount)")
        }
        try nextSize(equalTo: native)
        guard try nextRegion() == header.region else { throw Message.Malformed("it shows another region") }
        let frameBytes = size.width.saturatingTimes(size.height).saturatingTimes(layout.bytesPerPixel)
        let delays = try slab.part(at: 0, count: count.saturatingTimes(Message.delayBytes))
        guard frameBytes.saturatingTimes(count) <= slab.count - delays.count else {
            throw Message.Malformed("\(count) frames of \(size) pixels exceed the slab")
        }
        var images: [DecodedImage.Frame] = []
        for index in 0..<count {
            let pixels = try slab.part(at: delays.count + index * frameBytes, count: frameBytes)
            // Read once, since the worker can change it meanwhile.
            let delay = delays.loadUnaligned(fromByteOffset: index * Message.delayBytes, as: Int64.self)
            images.append(
                DecodedImage.Frame(
                    pixels: [UInt8](copying: pixels), delay: .nanoseconds(max(0, min(delay, 1 << 50)))))
        }
        let map = try nextGainMap(of: header, in: slab, at: delays.count + count * frameBytes)
        do {
            var image = try DecodedImage(
                validating: images, size: size, layout: layout, loopCount: loopCount, nativeSize: native,
                region: header.region
            ).labelled(colors)
            image.gainMap = map
            return image
        } catch { throw Message.Malformed(error.message) }
    }
}
