import Foundation
import PipelineServer
import Stages
import Synchronization

/// What pages show of pictures before these are loaded: their ThumbHashes, and the sizes of files.
///
/// They are read in the background, from the start of the server on, so that no page waits for them.
final class PictureFacts: Sendable {
    typealias Fact = (hash: [UInt8], size: String?, bytes: String?)

    private let state = Mutex((known: [String: Fact](), isReading: false))
    private let folder: String

    init(folder: String) { self.folder = folder }

    /// Those that are known so far, by the pictures' names.
    var known: [String: Fact] { state.withLock { $0.known } }

    /// Begins to read what is missing, unless that is in progress. Pictures that couldn't be loaded are tried again.
    func read(_ names: [String], _ responder: ImageResponder) {
        let missing = state.withLock { state -> [String] in
            let missing = state.isReading ? [] : names.filter { state.known[$0] == nil }
            state.isReading = state.isReading || !missing.isEmpty
            return missing
        }
        guard !missing.isEmpty else { return }
        Task {
            await withTaskGroup(of: Void.self) { group in
                for (index, name) in missing.enumerated() {
                    // Few at a time: visitors come first.
                    if index >= 2 { await group.next() }
                    group.addTask { await self.read(name, responder) }
                }
            }
            state.withLock { $0.isReading = false }
        }
    }

    private func read(_ name: String, _ responder: ImageResponder) async {
        guard let hash = try? await responder.thumbHash(of: name) else { return }
        let (limits, codecs) = (responder.loader.resources.limits, responder.loader.resources.codecs)
        let header = ImagePipeline {
            ReadFile(byteLimit: limits.encodedBytes)
            ClosureStage("Header", accepts: .original, produces: .encoded) { load in
                guard case .original(let file) = load.content else { return .skipped }
                let size = try await load.header(limits: limits, codecs: codecs).size
                load.advance(to: .encoded(EncodedImage(bytes: file.bytes, size: size)))
                return .done
            }
        }
        // A URL names no file, so its sizes stay unknown.
        let file = try? await header.load(ImageRequest(.file(folder + "/" + name))).encoded
        let megabytes = Double(file?.bytes.count ?? 0) / 1e6
        let bytes = megabytes < 1 ? "\(Int(megabytes * 1000) + 1) KB" : String(format: "%.1f MB", megabytes)
        let fact = (hash, file?.size.map { "\($0.width) × \($0.height)" }, file.map { _ in bytes })
        state.withLock { $0.known[name] = fact }
    }
}
