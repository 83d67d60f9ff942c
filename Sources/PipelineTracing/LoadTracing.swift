import Pipeline
public import Stages
public import Tracing

/// Makes a span for each load of an `ImageLoader`, and one for each of its stages, with swift-distributed-tracing.
///
/// ```swift
/// let loader = ImageLoader(resources, observers: [LoadTracing()])
/// ```
///
/// A load's span starts in the context in which the load starts, so it belongs to the request that a server is
/// handling. Attributes: `image`, without credentials and query values; `image.key`; `image.source`; `image.prefetch`.
/// The stages' spans are made when the load ends, with the stages' own times.
public final class LoadTracing: LoadObserver {
    private struct Open: Sendable {
        let span: any Span
        let begin: UInt64
    }

    private let tracer: (any Tracer)?
    private let open = Lock<[UInt64: Open]>([:])

    /// Makes spans with `tracer`; by default with the tracer that the program has set up.
    public init(_ tracer: (any Tracer)? = nil) { self.tracer = tracer }

    /// Updates the span of a load.
    public func observe(_ observation: LoadObservation) {
        switch observation.event {
        case .started: begin(observation)
        case .alreadyLoading: span(of: observation)?.addEvent(SpanEvent(name: "already loading"))
        case .cacheHit(let source): span(of: observation)?.addEvent(SpanEvent(name: "cache hit: \(source.rawValue)"))
        case .downloadStarted: span(of: observation)?.addEvent(SpanEvent(name: "download started"))
        case .stored(let place): span(of: observation)?.addEvent(SpanEvent(name: "stored: \(place.rawValue)"))
        case .cancelled:
            span(of: observation)?.attributes["image.cancelled"] = true
            end(observation, nil)
        case .failed(let error):
            // Only the text: an underlying error may quote secrets.
            span(of: observation)?.setStatus(SpanStatus(code: .error, message: "\(error)"))
            end(observation, (error as? LoadError)?.trace)
        case .delivered(let response):
            span(of: observation)?.attributes["image.source"] = response.source.rawValue
            end(observation, response.trace)
        }
    }

    private var effectiveTracer: any Tracer { tracer ?? InstrumentationSystem.tracer }

    private func begin(_ observation: LoadObservation) {
        let now = DefaultTracerClock.now.nanosecondsSinceEpoch
        let span = effectiveTracer.startSpan(
            observation.isPrefetch ? "image prefetch" : "image load", context: .current ?? .topLevel,
            ofKind: .internal, at: Moment(nanosecondsSinceEpoch: now))
        span.attributes["image"] = observation.subject
        if let key = observation.key { span.attributes["image.key"] = "\(key)" }
        span.attributes["image.prefetch"] = observation.isPrefetch
        open.withLock { $0[observation.load] = Open(span: span, begin: now) }
    }

    private func span(of observation: LoadObservation) -> (any Span)? {
        open.withLock { $0[observation.load]?.span }
    }

    private func end(_ observation: LoadObservation, _ trace: Trace?) {
        guard let load = open.withLock({ $0.removeValue(forKey: observation.load) }) else { return }
        for entry in trace?.entries ?? [] {
            let begin = load.begin + entry.start.nanoseconds
            let span = effectiveTracer.startSpan(
                entry.stage, context: load.span.context, ofKind: .internal, at: Moment(nanosecondsSinceEpoch: begin))
            span.attributes["stage.outcome"] = entry.outcome.rawValue
            if let bytes = entry.bytes { span.attributes["stage.bytes"] = bytes }
            if let note = entry.note { span.attributes["stage.note"] = note }
            span.end(at: Moment(nanosecondsSinceEpoch: begin + entry.duration.nanoseconds))
        }
        load.span.end()
    }
}
