package import HTTPTypes

/// What is known of the HTTP response behind a load.
///
/// Lookups, fetchers and stores talk through it: a lookup leaves what it has found, a fetcher confirms or replaces that, and
/// `Store` keeps what the origin sent. Like a load's content it only moves forward, from unknown to stale to one of the
/// others; see ``Load/advance(response:from:)`` and ``Load/deliver(_:from:)``.
///
/// ```swift
/// guard case .stale(let stored, let freshness) = load.response else { return .skipped }
/// load.note("\(freshness), validator \(stored.validator ?? "none")")
/// ```
public indirect enum ResponseState: Sendable {
    /// No cache was asked, or none has a response.
    case unknown
    /// A cache has a response that the origin has to confirm first. A fetcher sends its validators. Where the origin
    /// can't be reached, its body may become the load's original anyway, and the load's `isStale` is set.
    case stale(StoredResponse, Freshness)
    /// The load's original is the body of a stored response that may be given without asking the origin.
    case fresh(StoredResponse, Freshness)
    /// The origin has sent a response, whose body is the load's original.
    case fetched(HTTPExchange)
    /// The origin has confirmed a stored response with a 304 (RFC 9110 section 15.4.5). Its body is the load's original.
    case confirmed(StoredResponse, by: HTTPExchange)

    /// The cases by name: those that a stage needs, or can leave.
    public enum Kind: String, Sendable, CaseIterable { case unknown, stale, fresh, fetched, confirmed }

    /// The case's name.
    public var kind: Kind {
        switch self {
        case .unknown: .unknown
        case .stale: .stale
        case .fresh: .fresh
        case .fetched: .fetched
        case .confirmed: .confirmed
        }
    }

    /// The stored response, whether or not it still holds.
    public var stored: StoredResponse? {
        switch self {
        case .stale(let stored, _), .fresh(let stored, _), .confirmed(let stored, _): stored
        case .unknown, .fetched: nil
        }
    }

    /// The header fields of the response whose body is the load's original.
    package var headers: HTTPFields {
        if case .fetched(let exchange) = self { exchange.headers } else { stored?.headers ?? [:] }
    }

    /// Whether the response leads elsewhere (RFC 9110 section 15.4).
    package var isRedirect: Bool {
        if case .fetched(let exchange) = self { exchange.isRedirect } else { stored?.isRedirect ?? false }
    }

    /// What becomes the load's content together with this state, and where it came from.
    fileprivate var content: (LoadContent, LoadSource)? {
        let (image, source): (EncodedImage, LoadSource)
        switch self {
        case .unknown, .stale: return nil
        case .fresh(let stored, _): (image, source) = (stored.encodedImage, .disk)
        case .fetched(let exchange):
            image = EncodedImage(bytes: exchange.body, declaredType: exchange.headers[.contentType])
            source = .network
        case .confirmed(let stored, _): (image, source) = (stored.encodedImage, .revalidated)
        }
        return (isRedirect ? .redirected : .original(image), source)
    }

    /// How far a load has come with it. No state follows one of a later step.
    var step: Int { kind == .unknown ? 0 : kind == .stale ? 1 : 2 }
}

extension LoadError {
    /// The error of a response that brings no image.
    /// - Parameter reason: The reason phrase of its status line; empty without one.
    package static func status(of exchange: HTTPExchange, reason: String = "", subject: String) -> LoadError {
        if exchange.isRedirect { return .unfollowed(exchange.status, subject: subject) }
        let status = reason.isEmpty ? "\(exchange.status)" : "\(exchange.status) \(reason)"
        return LoadError(
            .httpStatus, subject: subject, "The origin answered \(status); there is no image to show.",
            httpStatus: exchange.status,
            retryAfter: RetryAfter.delay(in: exchange.headers, now: exchange.responseTime))
    }

    fileprivate static func unfollowed(_ status: Int, subject: String) -> LoadError {
        LoadError(
            .httpStatus, subject: subject,
            "The origin answered \(status), a redirect, which this list doesn't follow. Put FollowRedirects around its "
                + "stages.", httpStatus: status)
    }
}

extension Load {
    /// Moves the response forward, and with it the content: a response that is fresh, fetched or confirmed brings the
    /// load's original.
    ///
    /// A stage that goes back, such as from fetched to stale, fails with ``LoadError/Code/stageContract``.
    /// - Parameters:
    ///   - state: What is known now.
    ///   - source: Where the original came from. By default the disk for a fresh response, the network for a fetched one,
    ///     and ``LoadSource/revalidated`` for a confirmed one.
    public mutating func advance(response state: ResponseState, from source: LoadSource? = nil) {
        guard state.step >= response.step else {
            return breach("it tried to move the response back; the response of a load only moves forward")
        }
        guard followsRedirects || state.step < 2 || !state.isRedirect else {
            let status = if case .fetched(let exchange) = state { exchange.status } else { state.stored?.status ?? 302 }
            return fail(with: .unfollowed(status, subject: subject))
        }
        response = state
        if let (content, origin) = state.content { advance(to: content, from: source ?? origin) }
    }

    /// Gives the load a fetched response: sets its ``response`` and its original in one step.
    ///
    /// Every fetcher calls it, whatever it fetches from. `Store` then keeps the response, `Coalesce` shares it, and a
    /// later load finds it and can have it confirmed. A 304 confirms the stale response of the load's ``response``,
    /// whose body becomes the original.
    ///
    /// A redirect (RFC 9110 section 15.4) is followed if a `FollowRedirects` stands around the stage, which then runs
    /// again for the URL that the redirect leads to.
    ///
    /// Any other status brings no image: an error, or a 304 that nothing was stored for. The stage then fails with
    /// ``LoadError/Code/httpStatus``, with the status and the response's `Retry-After`. `Retry`, `StaleIfError` and
    /// `LimitErrors` know what to do about it.
    ///
    /// The engine reports the request to everybody who watches the load: its beginning, its progress and its end. See
    /// ``LoadEvent``.
    /// - Parameters:
    ///   - exchange: The request and its whole response.
    ///   - source: Where the original came from; by default ``LoadSource/network``, or ``LoadSource/revalidated`` for a 304.
    public mutating func deliver(_ exchange: HTTPExchange, from source: LoadSource? = nil) {
        if recorder.fact == nil { note(.answered(status: exchange.status)) }
        switch (exchange.status, response) {
        case (200..<300, _): advance(response: .fetched(exchange.tagged(request.tags)), from: source)
        case (304, .stale(let stored, _)): advance(response: .confirmed(stored, by: exchange), from: source)
        case _ where exchange.isRedirect && followsRedirects: advance(response: .fetched(exchange), from: source)
        default: fail(with: .status(of: exchange, subject: subject))
        }
    }

    /// Continues with a stale response, which stands in for the origin's.
    package mutating func acceptStale(_ stored: StoredResponse, _ freshness: Freshness) {
        isStale = true
        advance(response: .stale(stored, freshness))
        advance(to: stored.isRedirect ? .redirected : .original(stored.encodedImage), from: .disk)
    }

    /// The stored response whose body is the load's original; `nil` where the original came from elsewhere, or there is
    /// none yet.
    package var storedOriginal: StoredResponse? {
        phase <= .redirected || response.kind == .stale && !isStale ? nil : response.stored
    }
}

extension Int {
    /// Whether a response with this status may lead elsewhere (RFC 9110 section 15.4).
    package var isRedirect: Bool { [301, 302, 303, 307, 308].contains(self) }
}

extension HTTPExchange {
    /// Whether the response leads elsewhere.
    package var isRedirect: Bool { status.isRedirect && headers.contains(.location) }
}

extension StoredResponse {
    /// Whether the response leads elsewhere.
    package var isRedirect: Bool { status.isRedirect && headers.contains(.location) }
}
