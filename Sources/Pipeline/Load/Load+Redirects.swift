/// Where a load that follows redirects began. A class, since few loads follow any.
final class Redirection: Sendable {
    let request: ImageRequest
    let sourceKey: SourceKey?
    let events: (@Sendable (LoadEvent) -> Void)?
    /// Whether a redirect has led to another origin.
    let crossesOrigins: Bool

    init(_ load: Load, crossesOrigins: Bool) {
        let start = load.redirection
        request = start?.request ?? load.request
        sourceKey = start == nil ? load.sourceKey : start?.sourceKey
        events = start == nil ? load.events : start?.events
        self.crossesOrigins = crossesOrigins
    }
}

extension Load {
    /// Whether a redirect has led to the present URL.
    package var isRedirected: Bool { redirection != nil }

    /// Whether a redirect has led from one origin to another.
    package var crossesOrigins: Bool { redirection?.crossesOrigins ?? false }

    /// Moves on to the URL that a redirect leads to, for another pass through the stages that found the redirect: nothing
    /// is known of that URL yet. The keys of products stay those of the load's own URL.
    /// - Parameters:
    ///   - request: The load's request, with the URL and the header fields of the next hop.
    ///   - key: The key of its responses.
    ///   - response: What is known of its response.
    package mutating func follow(
        to request: ImageRequest, as key: SourceKey?, response: ResponseState = .unknown, crossesOrigins: Bool
    ) {
        let start = Redirection(self, crossesOrigins: crossesOrigins)
        redirection = start
        if isRequestOpen, let events = start.events {
            // To whoever watches, the request continues.
            self.events = { event in
                if case .sendingRequest = event { return }
                events(event)
            }
        }
        (self.request, sourceKey, self.response) = (request, key, response)
        (content, source) = (.empty, nil)
    }

    /// Lets the next request be reported as one of its own.
    package mutating func beginRequest() { isRequestOpen = false }

    /// Ends the following of redirects: the request is again the one that the load began with. Reports the end of a request
    /// that has brought a redirect, and perhaps led to something stored.
    package mutating func endRedirects(failing error: (any Error)? = nil) {
        followsRedirects = false
        if let redirection {
            (request, sourceKey, events) = (redirection.request, redirection.sourceKey, redirection.events)
            self.redirection = nil
        }
        if isRequestOpen {
            isRequestOpen = false
            // A cancelled load reports nothing more.
            let failure = error as? LoadError
            if error == nil || failure != nil {
                report(.requestCompleted(source: error == nil ? source : nil, error: failure))
            }
        }
    }
}
