#if Isolation
import Logging
import Pipeline
import PipelineImages
import PipelineIsolation

/// The pool of processes that decode, started by the first decode that needs it: most runs of the command decode nothing or
/// one image, and the helper takes a tenth of a second to load its libraries.
final class Isolation: Sendable {
    /// The pool of this run.
    static let shared = Isolation()

    private enum Progress {
        case none, starting
        case over(Result<DecoderPool, LoadError>)
    }

    private struct State {
        var progress = Progress.none
        var limits = ImageLimits()
        var isRequired = false
    }

    private let state = Monitor(State())

    /// Decodes formats in the pool: all of them, or only those that must not be decoded elsewhere.
    /// - Parameters:
    ///   - codecs: The formats of the command. SVG and JPEG XL join them.
    ///   - choice: What the user chose; `nil` for the verb's default.
    ///   - isDefault: Whether the verb isolates by default. A machine that can't then warns and decodes in this process.
    func codecs(_ codecs: ImageCodecs, choice: Bool?, isDefault: Bool) -> ImageCodecs {
        state.withLock { $0.isRequired = choice == true }
        let isolatesAll = choice ?? isDefault
        var list = codecs
        for risky in ImageCodecs.risky.codecs where codecs.codec(for: risky.format) == nil { list = list.adding(risky) }
        for codec in list.codecs where isolatesAll || codec.needsIsolation {
            let mayStay = choice == nil && !codec.needsIsolation
            list = list.adding(codec.decoding(by: IsolatedOnDemand(codec: codec, isolation: self, mayStay: mayStay)))
        }
        return list
    }

    /// Raises the pool's limits to those of a verb, before its first decode.
    func allow(_ limits: ImageLimits) { state.withLock { $0.limits = limits } }

    /// Returns the pool, and starts it if it hasn't been. Blocks meanwhile.
    func pool() throws(LoadError) -> DecoderPool {
        let start: (ImageLimits, Bool)? = state.wait(
            for: { state -> (ImageLimits, Bool)?? in
                switch state.progress {
                case .over: return .some(nil)
                case .starting: return nil
                case .none:
                    state.progress = .starting
                    return (state.limits, state.isRequired)
                }
            }, whileIdle: { _, _ in })
        if let (limits, isRequired) = start {
            let result: Result<DecoderPool, LoadError>
            do {
                result = .success(
                    try DecoderPool(blockingWith: limits, confinement: isRequired ? .required : .bestEffort))
            } catch {
                result = .failure(
                    error as? LoadError ?? LoadError(.refused, subject: "", "The decoders can't be started: \(error)."))
            }
            state.withLock(wake: .all) { $0.progress = .over(result) }
        }
        let progress = state.withLock { $0.progress }
        guard case .over(let result) = progress else {
            throw LoadError(.refused, subject: "", "No decoder has started.")
        }
        return try result.get()
    }
}

/// A decoder that starts the pool when it is first needed.
private struct IsolatedOnDemand: RemoteDecoding {
    let codec: ImageCodec
    let isolation: Isolation
    /// Whether it decodes in this process where no pool can be started.
    let mayStay: Bool

    var canBeStopped: Bool { !mayStay || codec.decoder.canBeStopped }
    var showsBeginnings: Bool { codec.decoder.showsBeginnings }

    private func decoder() throws -> any ImageDecoding {
        do {
            let pool = try isolation.pool()
            if codec.needsIsolation, !pool.confinement.isSuperset(of: .required) {
                throw LoadError(
                    .refused, subject: "",
                    "\(codec.format) files are only decoded in confined processes, and this system lacks "
                        + "\(Confinement.required.subtracting(pool.confinement)). See \(Program.name) doctor.")
            }
            return try pool.decoder(for: codec)
        } catch {
            guard mayStay else { throw error }
            Self.warn(of: error)
            return codec.decoder
        }
    }

    private static let hasWarned = Lock(false)

    /// Warns once that images are decoded in this process.
    private static func warn(of error: any Error) {
        let isFirst = hasWarned.withLock { hasWarned in
            defer { hasWarned = true }
            return !hasWarned
        }
        guard isFirst else { return }
        let reason = (error as? LoadError)?.message ?? "\(error)"
        Logger(label: Program.name).warning(
            "Images are decoded in this process. \(reason) --no-isolate says so on purpose.")
    }

    func header(of bytes: [UInt8], cancellation: WorkCancellation) throws -> ImageHeader {
        try decoder().header(of: bytes, cancellation: cancellation)
    }

    func decode(
        _ bytes: [UInt8], header: ImageHeader, box: PixelSize?, options: DecodeOptions, cancellation: WorkCancellation
    ) throws -> DecodedImage {
        try decoder().decode(bytes, header: header, box: box, options: options, cancellation: cancellation)
    }

    func metadata(of bytes: [UInt8], cancellation: WorkCancellation) throws -> EmbeddedMetadata {
        try decoder().metadata(of: bytes, cancellation: cancellation)
    }

    func description(of bytes: [UInt8], cancellation: WorkCancellation) throws -> ImageMetadata {
        try ImageMetadata.reading(bytes, by: decoder(), cancellation)
    }

    func blocks(
        _ kept: KeptMetadata, of bytes: [UInt8], for size: PixelSize, isGray: Bool, cancellation: WorkCancellation
    ) throws -> EmbeddedMetadata {
        try kept.blocks(of: bytes, by: decoder(), for: size, isGray: isGray, cancellation)
    }

    func stripped(
        _ bytes: [UInt8], of metadata: StrippedMetadata, cancellation: WorkCancellation
    ) throws -> [UInt8] {
        try metadata.stripped(bytes, codec.format, by: decoder(), cancellation)
    }
}
#else
import PipelineImages

/// Stands for the pool where the trait `Isolation` is off: everything is decoded in this process, SVG and JPEG XL nowhere.
enum Isolation {
    static let shared = Isolation.none

    case none

    func codecs(_ codecs: ImageCodecs, choice: Bool?, isDefault: Bool) -> ImageCodecs { codecs }

    func allow(_ limits: ImageLimits) {}
}
#endif
