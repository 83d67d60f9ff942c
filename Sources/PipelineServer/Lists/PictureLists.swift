import Pipeline
import PipelineHTTP
import PipelineImages
import Stages

/// Makes the lists that pictures are loaded with, and keeps the recent ones: loads share work only through equal lists, and
/// making a list takes longer than a hit in memory.
final class PictureLists: Sendable {
    private let resources: PipelineResources
    private let queue: WorkQueue
    private let failures: RecentFailures
    private let quality: Int
    private let qualities: [ImageFormat: Int]
    private let decodeQuality: DecodeQuality
    private let gainMap: GainMapHandling?
    private let folder: String?
    private let sources: DecodedSources
    private let arrangement: @Sendable (ImagePipeline) -> ImagePipeline
    private let fallback: (source: ImageSource, maxAge: Duration)?
    /// Equal work has one list, which loads share.
    private let recent = Remembered<String, ImagePipeline>()

    /// - Parameters:
    ///   - resources: The caches and the client of all lists.
    ///   - configuration: The folder, and the quality of requests that name none.
    ///   - queue: Limits the loads that wait or work.
    ///   - failures: The sources that aren't asked for again at once.
    init(
        _ resources: PipelineResources, _ configuration: ServerConfiguration, queue: WorkQueue,
        failures: RecentFailures
    ) {
        fallback = configuration.fallback.map { (.bytes($0), configuration.fallbackMaxAge) }
        var resources = resources
        // Clients name no such source; see `SourcePolicy`.
        if fallback != nil { resources.allowedSources.insert(.inline) }
        (self.resources, self.queue, self.failures) = (resources, queue, failures)
        (quality, qualities) = (configuration.quality, configuration.qualities)
        (decodeQuality, gainMap) = (configuration.decodeQuality, configuration.gainMap)
        folder = configuration.sources.followsLinks ? nil : configuration.sources.folder
        arrangement = configuration.arrangement
        sources = DecodedSources(in: resources.memory)
    }

    /// The formats that lists read and write.
    var codecs: ImageCodecs { resources.codecs }

    /// The list for a picture. The client's formats count if the path names none.
    func list(for request: PictureRequest, _ formats: AcceptedFormats) -> ImagePipeline {
        var options = EncodeOptions(quality: request.quality ?? quality, maxBytes: request.maxBytes)
        if request.quality == nil { options.qualities = qualities.merging(request.qualities) { $1 } }
        let encode =
            if let format = request.format {
                Encode(format, options: options)
            } else {
                Encode(formats, options: options)
            }
        var first = request.checks
        if !request.skippedFormats.isEmpty {
            first.append(
                ImgproxySkip(formats: request.skippedFormats, wanted: request.format, limits: resources.limits))
        }
        if !first.isEmpty { first.insert(CheckHeader(limits: resources.limits), at: 0) }
        let decode = decode(request.gamut)
        return kept(
            request.stages + [BeginEncoding(), encode], after: first, expecting: .picture(.standard),
            decode: request.isTile ? KeepDecoded(sources) { decode } : decode)
    }

    /// The list that ends with a source's description, or with what that is made of.
    func list(for description: SourceDescription) -> ImagePipeline {
        switch description.content {
        case .size: kept([DescribeImage(limits: resources.limits)], expecting: .untyped, decode: nil)
        case .facts:
            kept(
                [Resize(100), WriteFacts()],
                after: [CheckHeader(limits: resources.limits), ReadFacts(limits: resources.limits)],
                expecting: .untyped, decode: decode())
        }
    }

    /// The list that ends with the picture's ThumbHash.
    func listOfHash() -> ImagePipeline { kept([Resize(100), HashImage()], expecting: .untyped, decode: decode()) }

    /// The list that ends with a digest of an overlay's pixels.
    func listOfDigest() -> ImagePipeline { kept([DigestPixels()], expecting: .untyped, decode: decodeOverlay) }

    /// The list that ends with an overlay's pixels. They aren't stored; the source's bytes are.
    func listOfOverlay() -> ImagePipeline { kept([], expecting: nil, decode: decodeOverlay) }

    private var decodeOverlay: Decode {
        var limits = resources.limits
        limits.pixels = min(limits.pixels, Overlaid.maximumPixels)
        return Decode(codecs: resources.codecs, limits: limits, budget: resources.budget)
    }

    private func kept(
        _ work: [any Stage], after first: [any Stage] = [], expecting expected: ExpectedResult?, decode: (any Stage)?
    ) -> ImagePipeline {
        let work = [decode].compactMap(\.self) + work
        let name =
            (first + work).map { $0.signature ?? $0.name }.joined(separator: " ")
            + (expected == nil ? " unstored" : "")
        return recent.value(name) { arranged(first + work, expected) }
    }

    private func decode(_ gamut: Gamut? = nil) -> Decode {
        Decode(
            codecs: resources.codecs, limits: resources.limits, quality: decodeQuality, gamut: gamut,
            gainMap: gainMap, budget: resources.budget)
    }

    /// The library's policy `returnCacheElseLoad`, with the queue around everything but memory hits, and the work on the
    /// picture before `Store`.
    private func arranged(_ work: [any Stage], _ expected: ExpectedResult?) -> ImagePipeline {
        let list = arrangement(
            ImagePipeline.returnCacheElseLoad(resources)
                .removing(ReadFile.self).removing(Downscale.self)
                .wrapping(ReplaceUndecodable.self) { remote in
                    Admit(queue) {
                        ReadFile(byteLimit: resources.limits.encodedBytes, within: folder)
                        remote
                    }
                }
                .wrapping(Fetch.self) { fetch in AskAgainLater(failures) { fetch } }
                .wrapping(Decode.self) { _ in
                    if let expected {
                        Results(resources.responses, expecting: expected) { work }
                    } else {
                        work
                    }
                })
        // A description of another picture would be a lie.
        guard let fallback, case .picture? = expected else { return list.removing(ReadInline.self) }
        return list.wrapping(from: ResolveIdentifier.self) { all in
            Fallback(to: fallback.source, maxAge: fallback.maxAge) { RememberFailure(failures) { all } }
        }
    }
}
