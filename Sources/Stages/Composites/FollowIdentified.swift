import PipelineHTTP
public import Pipeline

/// Follows the redirects of a request that has an `identifier`, for which the whole chain is one entry: a URL on the way,
/// which may be signed for this very request, may never be requested again.
///
/// ```swift
/// Coalesce(flights, by: .source) { Lease(responses) { FollowIdentified { Fetch(client) } } }
/// ```
///
/// The entry is fresh no longer than each redirect on the way, and becomes invalid with each of their URLs. Put the stage
/// directly around the one that fetches, and ``FollowRedirects``, which follows all other redirects, around the list.
public struct FollowIdentified: CompositeStage {
    public var body: Chain

    package static let specification = StageSpecification(
        composite: "followIdentified", "Follows redirects as one entry where a request has an identifier.",
        make: FollowIdentified.init)

    /// Wraps the stage that asks the origin.
    public init(@ChainBuilder _ body: () -> Chain) { self.body = body() }

    public var identity: StageIdentity? { StageIdentity() }

    /// Runs the body once for each hop.
    /// - Throws: The body's errors; `LoadError` with `malformedResponse` for a redirect that leads nowhere, and `refused`
    ///   for one too many.
    public func run(_ load: inout Load) async throws -> Outcome {
        guard load.request.identifier != nil, var hops = load.redirectHops else {
            try await body.run(&load)
            return .done
        }
        load.followsRedirects = true
        // Those that the entry had before are settled with this request, even if there are none now.
        load.attach(EntryRedirects())
        do {
            try await follow(&hops, &load)
        } catch {
            load.endRedirects(failing: error)
            throw error
        }
        load.endRedirects()
        return .done
    }

    private func follow(_ hops: inout RedirectHops, _ load: inout Load) async throws {
        let (known, headers) = (load.response, load.request.headers)
        try await body.run(&load)
        while load.phase == .redirected, case .fetched(let redirect) = load.response {
            let request = try hops.next(after: load)
            load.noteRedirect(redirect)
            // The entry's validators are those of what the chain leads to.
            load.follow(
                to: request, as: load.sourceKey, response: known, crossesOrigins: hops.request.crossesOrigins)
            try await body.run(&load)
        }
        // The entry belongs to the request that began the chain, and so do the fields that `Vary` names.
        if load.isRedirected, case .fetched(var exchange) = load.response {
            exchange.requestHeaders = headers
            load.advance(response: .fetched(exchange), from: load.source)
        }
    }
}
