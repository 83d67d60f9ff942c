import Foundation
import Pipeline
import Stages

/// Takes the lease of a URL, says so, and fetches without end: the process that dies while others wait for it.
enum Holding {
    static func run(folder: String, url: String) async throws {
        let cache = HTTPCache(folder: folder)
        guard let url = URL(string: url) else { throw TrialFailure("no URL: \(url)") }
        let pipeline = ImagePipeline {
            ResolveIdentifier()
            Lease(cache) { FetchForEver() }
        }
        _ = try await pipeline.load(ImageRequest(url))
    }

    private struct FetchForEver: Stage {
        let accepts: Phases = .empty

        func run(_ load: inout Load) async throws -> Outcome {
            Child.tell("held")
            return try await withUnsafeThrowingContinuation { _ in }
        }
    }
}
