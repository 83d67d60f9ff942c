import Pipeline

extension Load {
    /// Runs a stage's work with the pixels on threads that may block: at the load's priority, within what is left of the
    /// time that the list's `Decode` allows, and with its memory counted in that `Decode`'s budget. Pixels without a
    /// `DecodedSource` have the limit of ``ContinueTime``, if any.
    /// - Parameters:
    ///   - size: The size of the largest picture that the work makes or reads.
    ///   - image: The pixels of the load.
    mutating func work<Value: Sendable>(
        with size: PixelSize, of image: DecodedImage, on threads: BlockingThreads, isLeft: Bool = false,
        _ body: @escaping @Sendable (WorkCancellation) throws -> Value
    ) async throws -> Value {
        let claim = try await memory(for: size, of: image)
        // Work that is left behind holds its memory until it ends.
        let held = isLeft ? (attachment(PixelMemory.self), attachment(MemoryClaim.self)) : (nil, nil)
        let time = time(within: attachment(DecodedSource.self)?.timeLimit ?? workLimit)
        defer { workTime = time.used }
        return try await time.run(on: threads, priority: priority, isLeft: isLeft) { cancellation in
            defer { claim?.release() }
            return try withExtendedLifetime(held) { try body(cancellation) }
        }
    }

    /// Claims the memory of such work, and returns what is to be released after it.
    ///
    /// Only a load that holds none waits, and only for a larger picture than it has, so no two loads wait for each other.
    private mutating func memory(for size: PixelSize, of image: DecodedImage) async throws -> MemoryClaim? {
        guard let budget = attachment(DecodedSource.self)?.budget else { return nil }
        let need = size.bytes(PixelMemory.bytesPerPixel(image.layout.sampleType)).saturatingTimes(image.frames.count)
        let held = attachment(PixelMemory.self)?.claims ?? []
        let missing = need - held.reduce(0) { $0 + $1.bytes }
        guard missing > 0 else { return nil }
        let enlarges = size.bytes(1) > image.size.bytes(1)
        let claim: MemoryClaim
        if held.isEmpty, enlarges {
            if !budget.claimNow(missing, priority: priority) { try await budget.claim(missing, priority: priority) }
            claim = MemoryClaim(missing, of: budget)
        } else {
            claim = budget.charge(missing)
        }
        guard enlarges else { return claim }
        attach(PixelMemory(claims: held + [claim]))
        return nil
    }
}

/// The memory of pixels that a transform has enlarged. The load holds it until they are encoded.
///
/// Before a stage of another kind, it is released: such a stage may claim memory itself, or wait for another load that does.
struct PixelMemory: PassingAttachment {
    let claims: [MemoryClaim]

    /// The bytes of a pixel of up to four channels in the picture and in a copy of it, such as an encoder makes.
    static func bytesPerPixel(_ type: PixelLayout.SampleType) -> Int { type == .uint16 ? 16 : 8 }

    func mayStay(during stage: any Stage) -> Bool {
        stage is any PixelTransform || stage is Downscale || stage is Encode
    }
}
