import CSandbox
import Pipeline
import PipelineImages

/// What a worker does with its requests.
struct WorkerLoop {
    let codecs: ImageCodecs
    let input: Slab
    let output: Slab

    private let formats: [ImageFormat]
    /// The file of the last request, which is often that of the next one too.
    private var file: [UInt8] = []
    /// The picture of the last request. Overwriting it takes time, so it is freed once the response is sent.
    private var picture: DecodedImage?
    /// Whether the last request took much memory.
    private var wasLarge = false

    init(codecs: ImageCodecs, input: Slab, output: Slab) {
        self.codecs = codecs
        self.input = input
        self.output = output
        formats = codecs.codecs.map(\.format)
    }

    /// Does a request.
    mutating func response(to request: Message) -> Message {
        // The last file was kept for another request, which hasn't come.
        if !file.isEmpty, !request.repeatsFile { clean() }
        var response = Message(kind: Message.Status.done.rawValue)
        do {
            try perform(request, &response)
        } catch {
            // The program clears what was written before the failure too.
            let written = response.used
            response = Message(kind: Message.Status.failed.rawValue)
            let known =
                error as? LoadError ?? LoadError(.stageFailed, subject: "", "The decoder failed: \(error).")
            var writer = SlabWriter(output.bytes)
            // An error always fits.
            try? writer.append(known, to: &response)
            response.used = max(response.used, written)
        }
        response.sequence = request.sequence
        #if SVG
        response.isSpent = SVGFonts.areSpent
        #endif
        response.lacking = DecodingProcess.lacking
        response.refusedCalls = Int(csandbox_refused_calls(&response.lastRefusedCall))
        return response
    }

    /// Clears what a request left, while nobody waits, unless the next one is for the same file.
    mutating func clean(after request: Message) {
        picture = nil
        if !request.keepsFile { clean() }
    }

    /// Clears what a file left: itself and the stack. Freed memory is overwritten as it is freed (`csandbox_spawn`), and
    /// that of a large image returned to the system.
    private mutating func clean() {
        file = []
        csandbox_clear_stack()
        guard wasLarge else { return }
        wasLarge = false
        returnFreedMemory()
    }

    private mutating func perform(_ request: Message, _ response: inout Message) throws {
        var numbers = request.reader
        let codec = codecs.codecs[try numbers.next(in: 0...codecs.codecs.count - 1)]
        let count = try numbers.next(in: 0...input.count)
        if !request.repeatsFile { file = [UInt8](copying: try input.part(at: 0, count: count)) }
        let (decoder, cancellation) = (codec.decoder, WorkCancellation())
        var writer = SlabWriter(output.bytes)
        switch Message.Kind(rawValue: request.kind) {
        case .header: response.append(try decoder.header(of: file, cancellation: cancellation), formats)
        case .decode:
            let header = try numbers.nextHeader(formats)
            let box = try numbers.nextOptionalSize()
            let frames = try numbers.next(in: 1...Message.largest)
            let (allowTruncated, isFast) = (try numbers.nextBool(), try numbers.nextBool())
            var options = DecodeOptions(
                allowTruncated: allowTruncated, frames: frames, quality: isFast ? .fast : .quality)
            options.keepsColors = try numbers.nextBool()
            options.keepsDepth = try numbers.nextBool()
            options.keepsHDR = try numbers.nextBool()
            options.makesHDR = try numbers.nextBool()
            options.keepsGainMap = try numbers.nextBool()
            let memory = header.keeping(options).decodingMemory(box: box, frames: frames).saturatingPlus(file.count)
            wasLarge = memory > WorkerProcess.Sizes.kept
            let image = try decoder.picture(
                of: file, header: header, box: box, options: options, cancellation: cancellation
            ).downscaled(to: header.size(for: box), cancellation)
            picture = image
            try response.append(image, of: header, to: output.bytes)
        case .metadata:
            try writer.append(try decoder.metadata(of: file, cancellation: cancellation), to: &response)
        case .description:
            let header = try decoder.header(of: file, cancellation: cancellation)
            try writer.append(
                try ImageMetadata.reading(file, by: decoder, cancellation), header: header, formats, to: &response)
        case .keptMetadata:
            let kept = KeptMetadata.allCases[try numbers.next(in: 0...KeptMetadata.allCases.count - 1)]
            let size = try numbers.nextSize()
            let isGray = try numbers.nextBool()
            try writer.append(
                try kept.blocks(of: file, by: decoder, for: size, isGray: isGray, cancellation), to: &response)
        case .stripped:
            let metadata = StrippedMetadata(
                isLocation: try numbers.nextBool(), keepsProvenance: try numbers.nextBool())
            try writer.append(try metadata.stripped(file, codec.format, by: decoder, cancellation), to: &response)
        case .wake, nil: throw Message.Malformed("there is no request \(request.kind)")
        }
    }
}
