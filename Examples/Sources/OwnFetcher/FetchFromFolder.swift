import Foundation
import Pipeline

/// Fetches `folder:` URLs from a folder. A file is fresh for a minute. After that it is read again only if it has
/// changed.
struct FetchFromFolder: Stage {
    let folder: URL
    let accepts: Phases = .empty
    let leaves: Set<ResponseState.Kind> = [.fetched, .confirmed]

    func run(_ load: inout Load) async throws -> Outcome {
        guard case .url(let url) = load.request.source, url.scheme == "folder" else { return .skipped }
        let (file, known) = (folder.appending(path: url.lastPathComponent), load.response.stored?.validator)
        let (version, bytes) = try await BlockingThreads.files.run(priority: load.priority) { _ in
            let changed = try file.resourceValues(forKeys: [.contentModificationDateKey]).contentModificationDate
            let version = "\(changed ?? .distantPast)"
            return (version, version == known ? nil : [UInt8](try Data(contentsOf: file)))
        }
        load.deliver(
            HTTPExchange(
                url: url, bytes: bytes, mediaType: "image/png", lifetime: .seconds(60), validator: version,
                at: load.clock.now))
        return .done
    }
}
