import PipelineImages
import Pipeline

#if Isolation
import PipelineIsolation
#else
import Logging
#endif

/// Whether images are decoded in confined processes, so that a hostile file can affect only its own result.
///
/// One pool of processes serves all loaders of a program that have the same limits. It is started by the first file that is
/// fetched or decoded. Its workers end after ten seconds without work, and its helper with the program. A program that
/// needs control over its pool makes a `DecoderPool`, and gives `PipelineResources` the codecs of
/// `ImageCodecs.isolated(in:)`; these are used as they are.
public enum Isolation: Sendable, Hashable {
    /// As far as the system allows, which is the default. What it lacks is logged once. Where no process can be confined or
    /// started at all, as elsewhere than on Linux with glibc, images are decoded in this process, and that is logged once.
    case automatic
    /// With everything that the confinement has to have, or no image is decoded: a load fails with
    /// `LoadError.Code.refused`.
    case required
    /// Not at all: images are decoded in this process.
    case none
}

extension Isolation {
    /// Returns codecs as a loader with these limits uses them. The package's own codecs are confined; a codec of another
    /// module isn't, since the processes don't know it.
    func codecs(_ codecs: ImageCodecs, within limits: ImageLimits) -> ImageCodecs {
        #if Isolation
        guard self != .none else { return codecs }
        return ImageCodecs(codecs.codecs.map { ConfinedCodecs.shared.codec($0, self, limits) })
        #else
        if self != .none { Self.warning }
        return codecs
        #endif
    }

    #if !Isolation
    /// Logged once.
    private static let warning: Void = Logger(label: "pipeline.decoders").warning(
        "Images are decoded in this process: it was built without the trait Isolation. isolation: .none says so on purpose."
    )
    #endif
}

#if Isolation
/// The codecs of all loaders in confined processes, each once: loads are only shared if their codecs are the same.
private final class ConfinedCodecs: Sendable {
    static let shared = ConfinedCodecs()

    private struct Key: Hashable {
        let isolation: Isolation
        let limits: ImageLimits
    }

    private struct Group {
        let pool: PoolOnDemand
        var codecs: [ImageFormat: ImageCodec] = [:]
    }

    private let groups = Lock<[Key: Group]>([:])

    func codec(_ codec: ImageCodec, _ isolation: Isolation, _ limits: ImageLimits) -> ImageCodec {
        guard codec === ImageCodecs.known.codec(for: codec.format) else { return codec }
        return groups.withLock { groups in
            let key = Key(isolation: isolation, limits: limits)
            var group = groups[key] ?? Group(pool: PoolOnDemand(limits: limits, isRequired: isolation == .required))
            defer { groups[key] = group }
            if let confined = group.codecs[codec.format] { return confined }
            let confined = codec.confined(by: group.pool, mayStay: isolation == .automatic)
            group.codecs[codec.format] = confined
            return confined
        }
    }
}
#endif
