import PipelineHTTP
import PipelineImages
public import Pipeline

/// Keeps decoded pictures in memory, for loads that each need another part of one, such as a viewer's tiles.
///
/// ```swift
/// let sources = DecodedSources(in: resources.memory)
/// KeepDecoded(sources) { Decode(quality: .fast) }
/// Crop(x: 512, y: 0, width: 512, height: 512)
/// Encode(.webp)
/// ```
///
/// Where a `Crop` follows, a `Decode` alone decodes that part for each load, for which most decoders read all that lies
/// before it in the file. Here the first load decodes the whole picture, loads that come meanwhile wait for it, and all cut
/// their parts out. A part that is needed at a half, a quarter or an eighth of its size is cut out of a picture of that
/// size, if the format is JPEG, which decodes to these sizes for less work.
///
/// The body runs as it is for a load that needs the whole picture, has a `maxPixelSize` or an animation's frames, and for a
/// picture that takes more than three quarters of the memory cache.
public struct KeepDecoded: CompositeStage, KeyedStage {
    public var body: Chain
    private let sources: DecodedSources

    package static func specification(_ resources: PipelineResources) -> StageSpecification {
        let sources = DecodedSources(in: resources.memory)
        return StageSpecification(
            composite: "keepDecoded", "Keeps the decoded picture for loads of other parts of it.", example: "[decode]"
        ) { KeepDecoded(sources, $0) }
    }

    /// Wraps a `Decode`.
    /// - Parameters:
    ///   - sources: Where decoded pictures are kept.
    ///   - body: The `Decode`; a body of other stages runs as it is.
    public init(_ sources: DecodedSources, @ChainBuilder _ body: () -> Chain) {
        self.sources = sources
        self.body = body()
    }

    public var identity: StageIdentity? { StageIdentity(over: [sources]) }

    /// Cuts the part that is needed out of a kept picture, or decodes it.
    /// - Throws: The body's errors; `CancellationError` if the task is cancelled.
    public func run(_ load: inout Load) async throws -> Outcome {
        guard body.stages.count == 1, let decode = body.stages.first as? Decode, decode.mayNeedPart(load),
            let source = load.sourceKey, let state = try await state(load)
        else {
            try await body.run(&load)
            return .done
        }
        func variant(_ text: String) -> VariantKey {
            VariantKey(source: source, request: load.request, list: BLAKE2bDigest(of: "\(text) \(state)".utf8))
        }
        let headerKey = variant("header")
        if let part = try await decode.part(of: &load, knowing: sources.header(headerKey)),
            let reduced = ReducedPart(part), sources.hasRoom(for: reduced.whole, part.header)
        {
            sources.remember(part.header, headerKey)
            let kept = decode.kept(load.request)
            let key = variant("decoded 1/\(reduced.divisor) \(decode.signature ?? "")\(kept)")
            let start = load
            if let (image, outcome) = try await whole(key, reduced.whole, by: decode, &load) {
                if outcome == .hit {
                    load.note("kept, \(image.size)")
                    decode.attachSource(to: &load, part.header)
                }
                load.advance(to: .decoded(try await reduced.cut(image, load.priority)))
                return outcome
            }
            // A decoder that doesn't make this size, such as one of the program's own.
            load.restart(from: start)
        }
        try await body.run(&load)
        return .done
    }

    /// The whole picture in a size, kept or decoded now; `nil` if the decoder makes another size.
    private func whole(
        _ key: VariantKey, _ size: PixelSize, by decode: Decode, _ load: inout Load
    ) async throws -> (DecodedImage, Outcome)? {
        if let image = kept(key, load) { return (image, .hit) }
        try await sources.turns.take(key, load.priority)
        defer { sources.turns.end(key) }
        // Another load may have decoded it meanwhile.
        if let image = kept(key, load) { return (image, .hit) }
        try await Chain([decode.fitting(size)]).run(&load)
        guard case .decoded(let image) = load.content, image.size == size else { return nil }
        keep(image, as: key, load)
        return (image, .miss)
    }

    /// Tells apart the bytes that a source's key has stood for.
    private func state(_ load: Load) async throws -> String? {
        guard case .original(let file) = load.content else { return nil }
        if let stored = load.storedOriginal { return "\(stored.generation)" }
        if load.source == .file, await load.fileIsAsIdentified() { return "file" }
        return try await BlockingThreads.files.run(priority: load.priority) { _ in
            "\(BLAKE2bDigest(of: file.bytes))"
        }
    }

    private func kept(_ key: VariantKey, _ load: Load) -> DecodedImage? {
        guard case .image(let image)? = sources.memory.entry(for: key, now: load.clock.now)?.product else { return nil }
        return image
    }

    private func keep(_ image: DecodedImage, as key: VariantKey, _ load: Load) {
        guard load.mayStore else { return }
        let (stored, file) = (load.storedOriginal, load.request.source.fileTarget)
        let entry = MemoryEntry(
            product: .image(image), validity: .unlimited, generation: stored?.generation,
            targets: stored?.targets ?? [file].compactMap(\.self))
        sources.memory.insert(entry, for: key, now: load.clock.now)
        // A removal since the first look has not found it.
        if !load.mayStore { sources.memory.remove(key.source) }
    }
}

/// The decoded pictures that ``KeepDecoded`` stages share.
public final class DecodedSources: Sendable {
    let memory: MemoryCache
    let turns = Turns<VariantKey>()
    /// The headers of sources, so that a file whose picture is kept isn't opened again. Up to 1,000.
    private let headers = Lock<[VariantKey: ImageHeader]>([:])

    /// Keeps pictures in a memory cache, among its other images: the least recently used of all is evicted first.
    /// - Parameter memory: The cache; its byte limit applies to all together.
    public init(in memory: MemoryCache) { self.memory = memory }

    fileprivate func header(_ key: VariantKey) -> ImageHeader? { headers.withLock { $0[key] } }

    fileprivate func remember(_ header: ImageHeader, _ key: VariantKey) {
        headers.withLock { headers in
            if headers.count >= 1000 { headers = [:] }
            headers[key] = header
        }
    }

    fileprivate func hasRoom(for size: PixelSize, _ header: ImageHeader) -> Bool {
        let sample = header.bitsPerChannel > 8 ? 2 : 1
        return size.width * size.height * (header.hasAlpha ? 4 : 3) * sample <= memory.byteLimit / 4 * 3
    }
}

/// The part of a picture that a load needs, in a whole picture of one of the sizes that are kept.
private struct ReducedPart {
    /// The size of the whole picture.
    let whole: PixelSize
    /// By how much its sides are divided: 1, 2, 4 or 8.
    let divisor: Int
    private let part: PartOfPicture
    /// The part in the whole picture.
    private let rectangle: PixelRegion

    /// Chooses the smallest whole picture in which the part has whole pixels, and no fewer than are needed.
    init?(_ part: PartOfPicture) {
        let (size, region) = (part.header.size, part.region)
        let needed = part.box.map { region.size.fitted(into: $0) } ?? region.size
        let divisors = part.header.format == .jpeg ? [8, 4, 2, 1] : [1]
        for divisor in divisors {
            func reduced(_ length: Int) -> Int { (length + divisor - 1) / divisor }
            let (x, y) = (region.x / divisor, region.y / divisor)
            let cut = PixelSize(width: reduced(region.right) - x, height: reduced(region.bottom) - y)
            // The last column and row of a whole picture may stand for fewer of the source's.
            let hasWholePixels =
                [region.x, region.y].allSatisfy { $0 % divisor == 0 }
                && (region.right % divisor == 0 || region.right == size.width)
                && (region.bottom % divisor == 0 || region.bottom == size.height)
            guard hasWholePixels, cut.width >= needed.width, cut.height >= needed.height else { continue }
            (self.divisor, self.part) = (divisor, part)
            whole = PixelSize(width: reduced(size.width), height: reduced(size.height))
            rectangle = PixelRegion(x: x, y: y, size: cut)
            return
        }
        return nil
    }

    /// Cuts the part out of the whole picture, as a decoder of parts gives it.
    func cut(_ image: DecodedImage, _ priority: LoadPriority) async throws -> DecodedImage {
        let crop = Crop(
            x: rectangle.x, y: rectangle.y, width: rectangle.size.width, height: rectangle.size.height)
        let cut = try await BlockingThreads.decoding.run(priority: priority) { try crop.transformed(image, $0) }
        var result = DecodedImage(
            size: cut.size, layout: cut.layout, frames: cut.frames, nativeSize: part.header.size, region: part.region)
        result.gainMap = cut.gainMap
        return result
    }
}
