public import Pipeline

/// Reports the stale image that a cache has before the origin is asked. What is on disk is decoded by the body; a 304 then
/// takes the image that was reported as the answer, without a second decode.
///
/// ```swift
/// StaleFirst {
///     Fetch(responses, client)
///     Decode()
///     Downscale()
/// }
/// Store(memory, responses)                         // outside, so that nothing stale is stored as if it were new
/// ```
public struct StaleFirst: CompositeStage {
    /// What turns bytes into the image, the asking of the origin included.
    public var body: Chain

    /// Wraps the stages from the one that asks the origin to those that make the image.
    public init(@ChainBuilder _ body: () -> Chain) { self.body = body() }

    /// Reports, then runs the body.
    public func run(_ load: inout Load) async throws -> Outcome {
        guard load.phase == .empty, load.isWatched, let reported = try await report(load) else {
            try await body.run(&load)
            return .done
        }
        for stage in body.stages {
            try await Chain([stage]).run(&load)
            if load.source == .revalidated, let reported = reported.content {
                load.advance(to: reported)
                load.note("confirmed: the image is the one reported before")
                return .done
            }
        }
        return .done
    }

    private struct Reported {
        /// The image; `nil` where another list made it, and this one has to make its own.
        let content: LoadContent?
    }

    /// Tells whoever watches of the stale image; `nil` if there is none, or its bytes are no image.
    private func report(_ load: Load) async throws -> Reported? {
        switch load.stale {
        case .ready(let product):
            load.report(.hasCache(product, source: .memory))
            return Reported(content: nil)
        case .original(let bytes):
            var fork = load.forked(events: nil)
            fork.advance(to: .original(bytes), from: .disk)
            do {
                try await body.run(&fork)
            } catch let error as LoadError where error.code == .undecodable || error.code == .unsupportedType {
                return nil
            }
            guard let product = fork.content.product else { return nil }
            load.report(.hasCache(product, source: .disk))
            return Reported(content: fork.content)
        default: return nil
        }
    }
}
