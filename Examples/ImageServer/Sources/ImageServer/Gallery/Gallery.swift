import Hummingbird
import Stages

/// The gallery of the folder: a page with every picture, a viewer and a page of traces.
struct Gallery: Sendable {
    init(_ settings: Settings, pictures: Pictures, paths: SignedPaths) throws {}

    func page(_ request: Request) async throws -> Reply? { nil }
}
