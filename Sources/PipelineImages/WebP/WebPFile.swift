#if WebP
import CWebP
import Pipeline

/// A WebP file split into its chunks (RFC 9649 section 2.7). Its bytes have to outlive it.
final class WebPFile {
    private let demuxer: OpaquePointer
    /// All bytes of the file.
    let data: WebPData
    /// Whether the file holds all its chunks.
    let isWhole: Bool
    /// Whether a chunk begins with a manifest store. libwebp finds no chunk of a file without a header of features.
    let hasProvenance: Bool

    /// The demuxer keeps a list of all chunks, of some dozen bytes each.
    private static let mostChunks = 65_536

    init(_ bytes: UnsafeBufferPointer<UInt8>) throws {
        var (count, hasProvenance) = (0, false)
        for (name, body) in WebPChunks(bytes) {
            count += 1
            guard count <= Self.mostChunks else { throw Self.damaged("it has more than \(Self.mostChunks) chunks") }
            if name == "C2PA", ManifestStore.begins(bytes[body]) { hasProvenance = true }
        }
        self.hasProvenance = hasProvenance
        data = WebPData(bytes: bytes.baseAddress, size: bytes.count)
        var data = data
        var state = WEBP_DEMUX_PARSING_HEADER
        guard let demuxer = WebPDemuxPartial(&data, &state) else {
            throw Self.damaged("its chunks make no sense")
        }
        self.demuxer = demuxer
        isWhole = state == WEBP_DEMUX_DONE
        // If the file is cut off before its size, libwebp reports a canvas of all ones.
        let sides = [WEBP_FF_CANVAS_WIDTH, WEBP_FF_CANVAS_HEIGHT].map { WebPDemuxGetI(demuxer, $0) }
        guard sides.allSatisfy({ (1...1 << 24).contains($0) }) else { throw Self.damaged("its header is cut off") }
    }

    deinit { WebPDemuxDelete(demuxer) }

    var isAnimated: Bool { WebPDemuxGetI(demuxer, WEBP_FF_FORMAT_FLAGS) & ANIMATION_FLAG.rawValue != 0 }

    var header: ImageHeader {
        let flags = WebPDemuxGetI(demuxer, WEBP_FF_FORMAT_FLAGS)
        let profile = flags & ICCP_FLAG.rawValue != 0 ? chunk("ICCP") : nil
        var header = ImageHeader(
            format: .webp,
            storedSize: PixelSize(
                width: Int(WebPDemuxGetI(demuxer, WEBP_FF_CANVAS_WIDTH)),
                height: Int(WebPDemuxGetI(demuxer, WEBP_FF_CANVAS_HEIGHT))),
            orientation: chunk("EXIF").flatMap { EXIFBlock($0) }?.orientation ?? .up,
            frames: max(1, Int(WebPDemuxGetI(demuxer, WEBP_FF_FRAME_COUNT))),
            loopCount: flags & ANIMATION_FLAG.rawValue != 0 ? Int(WebPDemuxGetI(demuxer, WEBP_FF_LOOP_COUNT)) : 0,
            hasAlpha: flags & ALPHA_FLAG.rawValue != 0, hasProfile: profile != nil)
        // A frame may be smaller than its canvas.
        header.readsRegions = !isAnimated
        estimateMemory(&header)
        header.take(profile: profile)
        header.hasProvenance = hasProvenance
        header.excessPixels = 4
        return header
    }

    /// Estimates what libwebp holds: for an animation the canvas, a frame and the list of frames, the whole of a
    /// lossless picture, or the transparency of a lossy one.
    private func estimateMemory(_ header: inout ImageHeader) {
        guard header.frames == 1 else {
            return header.memory = header.storedSize.bytes(12).saturatingPlus(128 * header.frames)
        }
        var features = WebPBitstreamFeatures()
        let isLossy = try? withFirstFrame { frame in
            WebPGetFeatures(frame.fragment.bytes, frame.fragment.size, &features) == VP8_STATUS_OK
                && features.format == 1
        }
        guard isLossy == true else { return header.memory = header.storedSize.bytes(4) }
        header.memory = header.storedSize.bytes(header.hasAlpha ? 1 : 0)
        (header.wholeBytes, header.wholeLimit) = (header.hasAlpha ? 4 : 3, WebPDecoder.largestWhole)
    }

    /// The first chunk with a name such as `ICCP`.
    func chunk(_ name: String) -> [UInt8]? {
        var iterator = WebPChunkIterator()
        guard WebPDemuxGetChunk(demuxer, name, 1, &iterator) != 0 else { return nil }
        defer { WebPDemuxReleaseChunkIterator(&iterator) }
        return Array(UnsafeBufferPointer(start: iterator.chunk.bytes, count: iterator.chunk.size))
    }

    /// Runs `body` with the first frame, a still picture's only one.
    func withFirstFrame<Result>(_ body: (WebPIterator) throws -> Result) throws -> Result {
        try withFrame(1, body)
    }

    /// Runs `body` with a frame; the first has the number 1.
    func withFrame<Result>(_ number: Int, _ body: (WebPIterator) throws -> Result) throws -> Result {
        var iterator = WebPIterator()
        guard WebPDemuxGetFrame(demuxer, Int32(clamping: number), &iterator) != 0 else {
            throw Self.damaged(number == 1 ? "it has no frame" : "it has no frame \(number)")
        }
        defer { WebPDemuxReleaseIterator(&iterator) }
        return try body(iterator)
    }

    static func damaged(_ reason: String) -> LoadError {
        LoadError(.undecodable, subject: "", "The image/webp file is damaged or cut off (\(reason)); get a new copy.")
    }
}
#endif
