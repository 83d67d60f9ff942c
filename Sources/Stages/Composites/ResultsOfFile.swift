import Essentials
import PipelineHTTP
import Pipeline

/// The results that a tier has of the file behind a load.
struct ResultsOfFile {
    private let tier: HTTPCache
    private let file: SourceKey
    private let target: String
    /// A time before the file was read.
    private let time: Date

    /// - Returns: `nil` unless the load's original is a file that its key tells the states of, and the tier a disk's.
    init?(_ load: Load, in tier: HTTPCache?) {
        guard let tier, tier.source == .disk, load.source == .file, load.request.identifier == nil,
            let file = load.sourceKey, let target = load.request.source.fileTarget
        else { return nil }
        (self.tier, self.file, self.target, time) = (tier, file, target, load.beganAt)
    }

    func result(_ key: VariantKey, _ priority: LoadPriority) async throws -> EncodedImage? {
        try await tier.variant(key, ofFile: file, priority: priority)
    }

    /// Stores a result, unless the file was changed since its key was made: it may have been read only afterwards.
    func keep(_ image: EncodedImage, as key: VariantKey, _ load: Load) async {
        guard load.mayStore, !image.isKept, await load.fileIsAsIdentified() else { return }
        await tier.keep(image, as: key, ofFile: file, target: target, readAt: time)
    }
}

extension Load {
    /// Whether the source is a file that hasn't changed since the load's key was made, and that the key belongs to.
    func fileIsAsIdentified() async -> Bool {
        guard case .file(let path) = request.source, request.identifier == nil,
            let stamp = try? await BlockingThreads.files.run(
                priority: priority, { _ in try FileStatus(path: path).stamp })
        else { return false }
        return SourceKey(request, stamp: stamp, credentials: credentials) == sourceKey
    }
}
