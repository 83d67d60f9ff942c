package import Pipeline

/// Decodes one file: checks its header against the limits, claims its memory from the budget, then decodes its pixels.
package struct DecodeWork: Sendable {
    let bytes: [UInt8]
    let decoder: any ImageDecoding
    let limits: ImageLimits
    let options: DecodeOptions
    let budget: MemoryBudget
    let time: WorkTime
    let priority: LoadPriority
    /// The box that the final picture fits into; `nil` for the size that later stages need.
    let maxPixelSize: PixelSize?
    let ahead: PixelNeeds
    /// The file's header, if it has been read before.
    var header: ImageHeader?
    /// Memory that is held for the load, until work that is left behind ends.
    var held: MemoryClaim?

    package init(
        bytes: [UInt8], decoder: any ImageDecoding, limits: ImageLimits, options: DecodeOptions,
        budget: MemoryBudget, time: WorkTime, priority: LoadPriority,
        maxPixelSize: PixelSize?, ahead: PixelNeeds = PixelNeeds()
    ) {
        self.bytes = bytes
        self.decoder = decoder
        self.limits = limits
        self.options = options
        self.budget = budget
        self.time = time
        self.priority = priority
        self.maxPixelSize = maxPixelSize
        self.ahead = ahead
    }

    private enum Progress: Sendable {
        case over(ImageHeader, DecodedImage)
        /// The decode has to wait for memory.
        case waits(ImageHeader, box: PixelSize?, Int)
    }

    /// Whether a load that is cancelled or out of time leaves the work behind.
    private var isLeft: Bool { !decoder.canBeStopped }

    /// Decodes on threads that may block. Waiting for memory holds no thread.
    package func run(on threads: BlockingThreads) async throws -> (ImageHeader, DecodedImage) {
        decoder.remote?.wake()
        let progress = try await time.run(on: threads, priority: priority, isLeft: isLeft) { cancellation -> Progress in
            let (header, box) = try checkedHeader(cancellation)
            let memory = header.decodingMemory(box: box, frames: options.frames)
            try limits.check(memory: memory)
            // Most often the memory is available, and one job on the threads is enough.
            guard budget.claimNow(memory, priority: priority) else { return .waits(header, box: box, memory) }
            defer { budget.release(memory) }
            let (made, image) = try pixels(header, box, cancellation)
            return .over(made, image)
        }
        switch progress {
        case .over(let header, let image): return (header, image)
        case .waits(let header, let box, let memory):
            // Work that is left behind holds its memory until it ends.
            let claim = try await budget.claimed(memory, priority: priority)
            return try await time.run(on: threads, priority: priority, isLeft: isLeft) { cancellation in
                defer { claim.release() }
                return try pixels(header, box, cancellation)
            }
        }
    }

    /// The peak memory of decoding a picture with a header, and that of the decoded picture, in bytes.
    func estimate(_ header: ImageHeader) throws -> (peak: Int, picture: Int) {
        let (header, box) = try checked(header)
        let frames = max(1, min(header.frames, options.frames))
        let isDeep = header.pixelType == .uint16 || header.appliesGainMap
        let picture = header.storedSize(for: box).bytes(isDeep ? 8 : 4).saturatingTimes(frames)
        return (header.decodingMemory(box: box, frames: options.frames), picture)
    }

    /// Reads and checks the header. Returns it with the region to decode, and the box for that region.
    private func checkedHeader(_ cancellation: WorkCancellation) throws -> (ImageHeader, box: PixelSize?) {
        try checked(header ?? decoder.header(of: bytes, cancellation: cancellation))
    }

    private func checked(_ header: ImageHeader) throws -> (ImageHeader, box: PixelSize?) {
        let (found, box) = try sized(header)
        guard found.keepsGainMap || found.pixelType == .uint16,
            found.decodingMemory(box: box, frames: options.frames) > limits.memory
        else { return (found, box) }
        // Rather without a gain map, or with 8 bits, than no picture.
        var reduced = header
        if found.keepsGainMap { reduced.gainMapMemory = 0 } else { reduced.holdsDepth = false }
        return try checked(reduced)
    }

    private func sized(_ header: ImageHeader) throws -> (ImageHeader, box: PixelSize?) {
        var header = header.keeping(options)
        try limits.check(header)
        if header.readsRegions, let need = neededPart(of: header) {
            header.region = need.region
            return (header, need.box)
        }
        guard header.isVector else { return (header, maxPixelSize ?? ahead.box(of: header.size)) }
        var box = maxPixelSize ?? ahead.box(of: header.size)
        // Unlike a later stage, `maxPixelSize` never enlarges.
        if maxPixelSize != nil, let fitting = box, header.size.fitted(into: fitting) == header.size { box = nil }
        var drawn = header
        drawn.storedSize = header.storedSize(for: box)
        try limits.check(drawn)
        return (header, box)
    }

    /// The only part of a picture that later stages need, and the box that it may be reduced to fit; `nil` if they need
    /// the whole picture.
    func neededPart(of header: ImageHeader) -> (region: PixelRegion, box: PixelSize?)? {
        guard maxPixelSize == nil, min(header.frames, options.frames) <= 1,
            let need = ahead.region(of: header.size), need.region.lies(in: header.size)
        else { return nil }
        return need
    }

    /// Decodes the pixels, and applies a gain map that isn't to be handed on. The header says what was made of the map.
    private func pixels(
        _ header: ImageHeader, _ box: PixelSize?, _ cancellation: WorkCancellation
    ) throws -> (ImageHeader, DecodedImage) {
        let image = try decoder.picture(
            of: bytes, header: header, box: box, options: options, cancellation: cancellation)
        var header = header
        if header.pixelColors.needsDepth, !image.layout.colorSpace.needsDepth { header.pixelColors = .sRGB }
        guard header.keepsGainMap else { return (header, image) }
        if image.gainMap != nil, !header.appliesGainMap { return (header, image) }
        if let application = GainMapApplication(image) {
            var applied = try application.applied(to: image, cancellation)
            if header.exchangesGainMap { applied.gainMap = application.exchanged }
            header.exchangesGainMap = applied.gainMap != nil
            return (header, applied)
        }
        let isToBeSDR = header.appliesGainMap && header.gainMapMakesSDR
        (header.keepsGainMap, header.appliesGainMap) = (false, false)
        header.gainMapIsDamaged = image.gainMap == nil
        var base = image
        base.gainMap = nil
        guard isToBeSDR else { return (header, base) }
        header.pixelColors = .sRGB
        return (header, try base.convertedToSRGB(cancellation))
    }
}
