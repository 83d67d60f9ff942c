package import Essentials

/// One load on its way down a list: its request, what has been found so far, and what happened.
///
/// A load is a value. Its content changes only through ``advance(to:from:)`` and its response through
/// ``advance(response:from:)`` and ``deliver(_:from:)``, which let it move forward and never back.
public struct Load: Sendable {
    /// The image to load. In a list that follows redirects its URL and header fields are those that the last one leads to.
    public internal(set) var request: ImageRequest
    /// The clock that this load uses.
    public let clock: any LoadClock
    /// The digest of what the list's stages do to the pixels: part of the variant's key.
    package let list: BLAKE2bDigest
    /// The codecs of the list, or else of the loader; `nil` if neither names any.
    package let listCodecs: ListCodecs?
    /// The header fields that tell users apart, which the keys of the load include.
    package let credentials: CredentialFields
    /// Which URLs the clients of the list may ask; `nil` if any.
    package let urlRule: URLRule?

    /// What has been found so far.
    public internal(set) var content: LoadContent = .empty
    /// Where ``content`` came from; `nil` while the load is empty.
    public internal(set) var source: LoadSource?
    /// The identity of the source's bytes; `nil` until a stage resolved it. It belongs to the URL of ``request``.
    public internal(set) var sourceKey: SourceKey?
    /// The identity of the list's final product; `nil` until a stage resolved the source's.
    public private(set) var variantKey: VariantKey?
    /// What is known of the HTTP response behind the load.
    public internal(set) var response: ResponseState = .unknown
    /// Whether ``content`` is stale and was accepted anyway.
    public var isStale = false
    /// Whether ``content`` is another picture that stands in for a source that can't be loaded.
    public package(set) var isFallback = false

    /// Whether redirects of the present URL are followed. Elsewhere they are responses without an image.
    package var followsRedirects = false
    /// How the load came to its present URL; `nil` where it began.
    var redirection: Redirection?
    /// Whether a request has brought a redirect, so that it isn't over.
    package internal(set) var isRequestOpen = false

    /// When the product stops being fresh for this request; `nil` if nothing limits it.
    package var freshUntil: Date?
    /// What the response behind the product says about itself.
    package var facts: ResponseFacts?

    /// How long work on this load's bytes and pixels has taken so far, waits not counted. All of it shares one limit.
    package var workTime = Duration.zero
    /// The limit of that time for pixels that no `Decode` of the list has made; `nil` for none.
    package var workLimit: Duration?

    private var attachments: [any LoadAttachment] = []
    /// Why the running stage fails, though it didn't throw: it broke its contract, or delivered a status that brings no
    /// image. An existential, which is a word and not an error's size, since every load carries it.
    private var failure: (any Error)?
    /// How often ``content`` was changed.
    private(set) var advances = 0
    var recorder: TraceRecorder
    /// Where ``report(_:)`` sends events.
    package var events: (@Sendable (LoadEvent) -> Void)?
    /// Whether any receiver of ``events`` shows images; `nil` if every receiver counts as showing them.
    package var showsImages: (@Sendable () -> Bool)?

    init(
        _ request: ImageRequest, clock: any LoadClock, list: BLAKE2bDigest, codecs: ListCodecs? = nil,
        credentials: CredentialFields = .standard, urlRule: URLRule? = nil,
        events: (@Sendable (LoadEvent) -> Void)? = nil
    ) {
        self.request = request
        self.clock = clock
        self.list = list
        listCodecs = codecs
        (self.credentials, self.urlRule) = (credentials, urlRule)
        self.events = events
        recorder = TraceRecorder(start: clock.uptimeNanoseconds)
    }

    /// How far the load has come.
    public var phase: Phase { content.phase }

    /// The image, as errors and logs may show it.
    public var subject: String { (redirection?.request ?? request).source.redacted }

    /// How urgent the load is now: its request's priority, or the one it was changed to since, for itself or for
    /// another load that shares the work.
    public var priority: LoadPriority { AdjustablePriority.current?.value ?? request.priority }

    /// When the load began, by the time of day.
    package var beganAt: Date {
        clock.now.addingTimeInterval(-Double(clock.uptimeNanoseconds - recorder.start) / 1_000_000_000)
    }

    /// Moves the load forward: the one way in which its content changes.
    ///
    /// A later phase is always allowed. Pixels may be replaced by pixels and bytes by bytes, as transforms do; a load
    /// that is ready stays as it is. A stage that breaks this rule fails with ``LoadError/Code/stageContract``. Pixels that
    /// don't have the gain map of those before are noted in the trace.
    /// - Parameters:
    ///   - content: what the stage has found or made.
    ///   - source: where the content came from. The first content of a load has to say so; later `nil` keeps what is
    ///     known, as for a stage that only converts.
    public mutating func advance(to content: LoadContent, from source: LoadSource? = nil) {
        let next = content.phase
        guard next > phase || (next == phase && next != .ready && next != .empty) else {
            return breach("it tried to move the load from \(phase) to \(next); a load only moves forward")
        }
        guard let source = source ?? self.source else {
            return breach("it moved the load to \(next) without saying where the content came from")
        }
        if case .decoded(let former) = self.content, case .decoded(let image) = content, former.gainMap != nil,
            image.gainMap == nil
        {
            note("The HDR gain map is dropped, since this stage doesn't keep it.")
        }
        self.content = content
        self.source = source
        advances += 1
    }

    /// Notes how the running stage broke its contract. The engine then fails it.
    mutating func breach(_ text: String) {
        fail(
            with: LoadError(.stageContract, subject: subject, "The stage broke its contract: \(text). Fix the stage."))
    }

    /// Notes why the running stage fails. The engine throws it when the stage returns.
    mutating func fail(with error: LoadError) { failure = failure ?? error }

    /// Returns why the stage that has just run fails. A composite may catch that and continue.
    mutating func takeFailure() -> (any Error)? {
        guard let failure else { return nil }
        self.failure = nil
        return failure
    }

    /// Settles the identity of the source's bytes, and with it the variant's.
    public mutating func identify(as key: SourceKey) {
        sourceKey = key
        variantKey = VariantKey(source: key, request: request, list: list)
    }

    /// Turns to another source, which stands in for the load's own: for a composite that runs its body again with it.
    /// Nothing is known of it yet, and no key of the load is its. What the request says of its own source (identifier,
    /// header fields, tags) isn't sent to another.
    package mutating func turn(to source: ImageSource) {
        request = ImageRequest(
            source, maxPixelSize: request.maxPixelSize, expiry: request.expiry, partition: request.partition,
            priority: request.priority, frames: request.frames, staleIfError: request.staleIfError,
            gamut: request.gamut, depth: request.depth, gainMap: request.gainMap)
        (content, self.source, response) = (.empty, nil, .unknown)
        (sourceKey, variantKey) = (nil, nil)
        isFallback = true
    }

    /// The value of a type that an earlier stage attached.
    public func attachment<Value: LoadAttachment>(_ type: Value.Type) -> Value? {
        for case let value as Value in attachments { return value }
        return nil
    }

    func hasAttachment(where matches: (any LoadAttachment) -> Bool) -> Bool { attachments.contains(where: matches) }

    /// Attaches a value for a later stage; it replaces an earlier one of its type.
    public mutating func attach<Value: LoadAttachment>(_ value: Value) {
        attachments.removeAll { $0 is Value }
        attachments.append(value)
    }

    /// Removes the attached value of a type that no later stage needs.
    package mutating func detach<Value: LoadAttachment>(_ type: Value.Type) {
        attachments.removeAll { $0 is Value }
    }

    /// Removes the attachments that mustn't stay while a stage runs.
    mutating func prepare(for stage: any Stage) {
        guard !attachments.isEmpty, case .decoded = content else { return }
        attachments.removeAll { ($0 as? any PassingAttachment)?.mayStay(during: stage) == false }
    }

    /// Sends an event to the receivers that watch this load.
    public func report(_ event: @autoclosure () -> LoadEvent) {
        guard let events else { return }
        HeldLocks.requireNone()
        events(event())
    }

    /// Whether any receiver watches this load.
    package var isWatched: Bool { events != nil }

    /// Whether any receiver shows images that come before the final one: a stale one, or a preview. If none does,
    /// making such an image is wasted work.
    ///
    /// A load that only a log or metrics watch shows none. This may change while the load runs, since other loads
    /// may join it and leave it.
    package var showsInterimImages: Bool { events != nil && showsImages?() ?? true }

    /// Notes in the trace what the running stage found out or did. The last note of a run counts.
    public mutating func note(_ fact: Trace.Fact) { recorder.note(fact) }

    /// Notes a text for people in the trace.
    public mutating func note(_ text: String) { recorder.note(.text(text)) }

    /// Notes in the trace the key that the running stage looked under or stored under.
    public mutating func note(key: Trace.Key) { recorder.note(key) }

    /// Takes the load back to a copy made earlier, with the trace and the working time so far: for a composite that
    /// runs its body again.
    public mutating func restart(from copy: Load) {
        let (recorder, workTime) = (recorder, workTime)
        self = copy
        (self.recorder, self.workTime) = (recorder, workTime)
    }

    /// Returns a copy with its own trace and its own receiver of events, for a composite that runs bodies concurrently.
    package func forked(events: (@Sendable (LoadEvent) -> Void)?) -> Load {
        var fork = Load(
            request, clock: clock, list: list, codecs: listCodecs, credentials: credentials, urlRule: urlRule,
            events: events)
        fork.content = content
        fork.source = source
        fork.sourceKey = sourceKey
        fork.variantKey = variantKey
        fork.response = response
        (fork.isStale, fork.isFallback) = (isStale, isFallback)
        (fork.followsRedirects, fork.redirection, fork.isRequestOpen) = (followsRedirects, redirection, isRequestOpen)
        (fork.freshUntil, fork.facts) = (freshUntil, facts)
        fork.attachments = attachments
        fork.showsImages = showsImages
        (fork.workTime, fork.workLimit) = (workTime, workLimit)
        return fork
    }

    /// The same load with a trace of its own, whose events reach this load's observers.
    public func forked() -> Load { forked(events: events) }

    /// Takes over a fork's content, response and attachments, and its trace as that of the running stage's body.
    public mutating func adopt(_ fork: Load) {
        // A fork that has followed redirects may have found nothing in the end.
        if fork.advances > 0, fork.phase != .empty { advance(to: fork.content, from: fork.source) }
        // The fork may be another load's, of the same source in another size, so keys that are settled here stay.
        if sourceKey == nil, let key = fork.sourceKey { identify(as: key) }
        if fork.response.step >= response.step { response = fork.response }
        (isStale, isFallback, isRequestOpen) = (fork.isStale, fork.isFallback, fork.isRequestOpen)
        (freshUntil, facts) = (fork.freshUntil, fork.facts)
        attachments = attachments.filter { own in !fork.attachments.contains { type(of: $0) == type(of: own) } }
        attachments += fork.attachments
        adoptTrace(of: fork)
    }

    /// Takes over a fork's trace and working time alone, as those of the running stage's body: for the loser of a race.
    public mutating func adoptTrace(of fork: Load) {
        workTime = max(workTime, fork.workTime)
        recorder.adopt(fork.recorder)
    }
}
