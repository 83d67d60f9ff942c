import Pipeline
import PipelineImages

/// What workers can decode: what their helper had opened when it forked them. A bit each.
///
/// A helper opens a library when the first file needs it, and keeps it for the workers after that.
struct Preparation: OptionSet, Sendable {
    let rawValue: UInt64

    /// Profiles, inks and files that only libvips reads.
    static let vips = Preparation(rawValue: DecodingProcess.vips)

    /// What a codec needs.
    /// - Parameter place: Its place among the helper's.
    static func codec(_ place: Int) -> Preparation { Preparation(rawValue: place < 63 ? 1 << UInt64(place) : 0) }

    /// What codecs need that are prepared on demand.
    init(of codecs: ImageCodecs) {
        self = codecs.codecs.enumerated().reduce(into: []) { needed, codec in
            if codec.element.decoder is any PreparedOnDemand { needed.insert(.codec(codec.offset)) }
        }
    }

    init(rawValue: UInt64) { self.rawValue = rawValue }

    /// Opens in this process what isn't open yet.
    func open(for codecs: ImageCodecs) {
        for (place, codec) in codecs.codecs.enumerated() where contains(.codec(place)) { codec.decoder.prepare() }
        if contains(.vips) { DecodingProcess.openVips() }
    }
}
