package import Pipeline

/// Decodes one file: checks its header against the limits, claims its memory from the budget, then decodes its pixels.
package struct DecodeWork: Sendable {
    let bytes: [UInt8]
    let decoder: any ImageDecoding
    let limits: ImageLimits
    let options: DecodeOptions
    let budget: MemoryBudget
    let clock: any LoadClock
    let priority: LoadPriority
    /// The box that the final picture fits into; `nil` for the size that later stages need.
    let maxPixelSize: PixelSize?
    let ahead: PixelNeeds

    package init(
        bytes: [UInt8], decoder: any ImageDecoding, limits: ImageLimits, options: DecodeOptions,
        budget: MemoryBudget, clock: any LoadClock, priority: LoadPriority,
        maxPixelSize: PixelSize?, ahead: PixelNeeds = PixelNeeds()
    ) {
        self.bytes = bytes
        self.decoder = decoder
        self.limits = limits
        self.options = options
        self.budget = budget
        self.clock = clock
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
        (decoder as? any RemoteDecoding)?.wake()
        guard isLeft, let time = limits.time else { return try await run(on: threads, began: nil) }
        let (begins, began) = AsyncStream.makeStream(of: Void.self)
        return try await withThrowingTaskGroup(of: (ImageHeader, DecodedImage)?.self) { group in
            group.addTask { try await run(on: threads, began: began) }
            group.addTask {
                // Waiting for a thread or for memory doesn't count.
                for await _ in begins { break }
                let limited = WorkCancellation().limited(to: time, by: clock)
                try await clock.sleep(untilLimit: time + .nanoseconds(1))
                try limited.check()
                return nil
            }
            defer { group.cancelAll() }
            while let result = try await group.next() {
                if let result { return result }
            }
            throw CancellationError()
        }
    }

    private func run(
        on threads: BlockingThreads, began: AsyncStream<Void>.Continuation?
    ) async throws -> (ImageHeader, DecodedImage) {
        let progress = try await threads.run(priority: priority, isLeft: isLeft) { cancellation -> Progress in
            let cancellation = cancellation.limited(to: limits.time, by: clock)
            let (header, box) = try checkedHeader(cancellation)
            let memory = header.decodingMemory(box: box, frames: options.frames)
            try limits.check(memory: memory)
            // Most often the memory is available, and one job on the threads is enough.
            guard budget.claimNow(memory, priority: priority) else { return .waits(header, box: box, memory) }
            defer { budget.release(memory) }
            return .over(header, try pixels(header, box, cancellation, began))
        }
        switch progress {
        case .over(let header, let image): return (header, image)
        case .waits(let header, let box, let memory):
            try await budget.claim(memory, priority: priority)
            // Work that is left behind holds its memory until it ends.
            let claim = MemoryClaim(memory, of: budget)
            let image = try await threads.run(priority: priority, isLeft: isLeft) { cancellation in
                defer { claim.release() }
                return try pixels(header, box, cancellation.limited(to: limits.time, by: clock), began)
            }
            return (header, image)
        }
    }

    /// Estimates the peak memory of the decode, and that of the picture, without decoding a pixel.
    func estimate(on threads: BlockingThreads) async throws -> (header: ImageHeader, peak: Int, picture: Int) {
        try await threads.run(priority: priority) { cancellation in
            let cancellation = cancellation.limited(to: limits.time, by: clock)
            let (header, box) = try checkedHeader(cancellation)
            let frames = max(1, min(header.frames, options.frames))
            let picture = header.storedSize(for: box).bytes(4).saturatingTimes(frames)
            return (header, header.decodingMemory(box: box, frames: options.frames), picture)
        }
    }

    /// Reads and checks the header. Returns it with the region to decode, and the box for that region.
    private func checkedHeader(_ cancellation: WorkCancellation) throws -> (ImageHeader, box: PixelSize?) {
        var header = try decoder.header(of: bytes, cancellation: cancellation)
        try limits.check(header)
        if maxPixelSize == nil, header.readsRegions, min(header.frames, options.frames) <= 1,
            let need = ahead.region(of: header.size), need.region.lies(in: header.size)
        {
            header.region = need.region
            return (header, need.box)
        }
        return (header, maxPixelSize ?? ahead.box(of: header.size))
    }

    private func pixels(
        _ header: ImageHeader, _ box: PixelSize?, _ cancellation: WorkCancellation,
        _ began: AsyncStream<Void>.Continuation?
    ) throws -> DecodedImage {
        began?.yield()
        return try decoder.picture(
            of: bytes, header: header, box: box, options: options, cancellation: cancellation)
    }
}
