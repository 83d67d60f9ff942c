import Essentials
import HTTPTypes
import PipelineHTTP
public import Pipeline

/// Follows redirects: runs its body for the load's URL, and again for each URL that a redirect leads to, five at most.
///
/// ```swift
/// FollowRedirects {
///     Lookup(responses)
///     Fetch(client)
///     Decode()
///     Downscale()
///     Store(memory, responses)
/// }
/// ```
///
/// Each URL has a pass of its own, and is looked up, asked for, shared and stored like any other. A redirect ends its
/// pass; of the stages behind it only ``Store`` has work, which stores it if HTTP allows that. In a later pass the load's
/// `request` has the URL and the header fields of that hop: credentials stay with their origin (RFC 9110 section 15.4).
/// Products keep the keys of the URL that the load began with, and are fresh no longer than each redirect on the way.
///
/// A fetcher of your own gives its redirects to `Load.deliver(_:from:)`. A request with an `identifier` has one entry for
/// the whole chain, which ``FollowIdentified`` follows.
public struct FollowRedirects: CompositeStage {
    public var body: Chain

    package static let specification = StageSpecification(
        composite: "followRedirects", "Runs its stages again for each URL that a redirect leads to.",
        make: FollowRedirects.init)

    /// Wraps the stages from the lookup to ``Store``.
    public init(@ChainBuilder _ body: () -> Chain) { self.body = body() }

    /// What the body makes; never a redirect.
    public var produces: Phases { body.outcomes(from: body.accepts).subtracting(.redirected) }

    public var identity: StageIdentity? { StageIdentity() }

    /// Runs the body once for each hop.
    /// - Throws: The body's errors; `LoadError` with `malformedResponse` for a redirect that leads nowhere, and `refused`
    ///   for one too many.
    public func run(_ load: inout Load) async throws -> Outcome {
        guard load.request.identifier == nil, var hops = load.redirectHops else {
            try await body.run(&load)
            return .done
        }
        load.followsRedirects = true
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
        try await body.run(&load)
        while load.phase == .redirected {
            var followed = load.attachment(FollowedRedirects.self) ?? FollowedRedirects()
            followed.add(load.response, under: load.sourceKey, isStale: load.isStale)
            let request = try hops.next(after: load)
            followed.key = hops.key()
            load.attach(followed)
            // In a list without a `Store` nobody has used it up.
            await load.attachment(WriteRight.self)?.end()
            load.detach(WriteRight.self)
            load.detach(EntryRedirects.self)
            load.follow(to: request, as: followed.key, crossesOrigins: hops.request.crossesOrigins)
            try await body.run(&load)
        }
        if load.attachment(FollowedRedirects.self)?.isStale == true { load.isStale = true }
    }
}

/// The redirects that a load has followed, which have entries of their own.
struct FollowedRedirects: LoadAttachment {
    private(set) var responses: [(response: ResponseState, key: SourceKey?)] = []
    /// The key of the response that they led to.
    var key: SourceKey?
    /// Whether any of them was stale and accepted anyway.
    private(set) var isStale = false
    /// Whether ``Store`` has refused any of them, such as one that was requested before the stored response.
    var isRefused = false

    mutating func add(_ response: ResponseState, under key: SourceKey?, isStale: Bool) {
        responses.append((response, key))
        self.isStale = self.isStale || isStale
    }
}

/// The redirects that belong to the entry of the load's response.
struct EntryRedirects: LoadAttachment {
    var exchanges: [HTTPExchange] = []
}

extension Load {
    /// The hops that begin at the load's URL; `nil` if it has none, or if its redirects are followed already.
    var redirectHops: RedirectHops? {
        guard !followsRedirects, case .url(let url) = request.source else { return nil }
        return RedirectHops(
            TransferRequest(url: url, headers: request.headers, partition: request.partition),
            credentials: credentials)
    }

    /// Notes a redirect that belongs to the entry of the response that it led to.
    mutating func noteRedirect(_ exchange: HTTPExchange) {
        attach(EntryRedirects(exchanges: (attachment(EntryRedirects.self)?.exchanges ?? []) + [exchange]))
    }

    /// Notes that the redirect that the load has come to may not be stored.
    mutating func refuseRedirect() {
        var followed = attachment(FollowedRedirects.self) ?? FollowedRedirects()
        followed.isRefused = true
        attach(followed)
    }

    /// Whether the origin has sent or confirmed a redirect on the way. Older images are outdated then.
    var hasAnsweredRedirect: Bool {
        attachment(EntryRedirects.self)?.exchanges.isEmpty == false
            || attachment(FollowedRedirects.self)?.responses.contains {
                $0.response.kind == .fetched || $0.response.kind == .confirmed
            } ?? false
    }
}

extension RedirectHops {
    /// Moves on from the redirect that a load has come to.
    /// - Returns: The load's request for the next hop.
    mutating func next(after load: Load) throws -> ImageRequest {
        let headers = load.response.headers
        let status =
            if case .fetched(let exchange) = load.response { exchange.status } else { load.response.stored?.status }
        guard let status, try follow(status: status, headers) else {
            throw LoadError(.malformedResponse, subject: load.subject, "The origin sent a redirect that leads nowhere.")
        }
        var next = load.request
        (next.source, next.headers) = (.url(request.url), request.headers)
        return next
    }
}
