import TestFixtures

/// Follows one request through the model, hop by hop, along with what the origin saw of it.
struct HTTPWalk {
    typealias Exchange = SimulatedSite.Exchange
    typealias Content = Scenario.Answer.Content

    let request: ModelRequest
    let isShared: Bool
    let now: Int
    /// What the origin saw, as far as no hop has taken it.
    var exchanges: [Exchange]
    var model: ModelCache

    /// What was given.
    private let answer: Scenario.Answer

    private(set) var content: Content?
    private(set) var source: Scenario.Answer.Source?
    /// The stored response of each hop; `nil` where something isn't.
    private(set) var stored: [ModelEntry]? = []
    private var hops = 0

    init(
        _ request: ModelRequest, _ model: ModelCache, _ exchanges: [Exchange], gave answer: Scenario.Answer, now: Int
    ) {
        self.answer = answer
        self.request = request
        self.model = model
        self.exchanges = exchanges
        self.now = now
        isShared = model.isShared
    }

    /// What a hop ends with.
    private enum Step {
        case given(ModelReply.Kind, serial: String, Scenario.Answer.Source)
        case ended(Content)
        case wrong(String)
    }

    /// Follows the request from a path on.
    /// - Parameter begun: what could be chosen for the first hop, and when, where its reply was held back.
    /// - Returns: what is against the rules.
    mutating func follow(_ path: String, begun: (candidates: [ModelEntry?], time: Int)? = nil) -> String? {
        var path = path
        while hops < 10 {
            let candidates =
                hops == 0
                ? begun?.candidates ?? model.candidates(path, request, now: now)
                : model.candidates(path, request, now: now)
            let time = hops == 0 ? begun?.time ?? now : now
            hops += 1
            switch step(path, candidates, asked: time) {
            case .given(.redirect(_, let target), _, let source):
                self.source = source
                path = target
            case .given(_, let serial, let source):
                content = .image(serial)
                self.source = source
                return finish()
            case .ended(let content):
                self.content = content
                source = nil
                stored = nil
                return finish()
            case .wrong(let text): return text
            }
        }
        return "\(path): more hops than a simulated site has"
    }

    /// Whether the fronts have the same word for where the picture came from.
    var hasOneHop: Bool { hops == 1 }

    private var serial: String? { if case .image(let serial) = answer.content { serial } else { nil } }

    private func finish() -> String? {
        guard let next = exchanges.first else { return nil }
        return "\(next.asked) was asked needlessly"
    }

    private mutating func take(_ path: String) -> [Exchange] {
        let own = exchanges.filter { $0.path == path }
        exchanges.removeAll { $0.path == path }
        return own
    }

    private mutating func step(_ path: String, _ candidates: [ModelEntry?], asked time: Int) -> Step {
        let own = take(path)
        let judged = candidates.map { ($0, $0?.judge(request, now: time, isShared: isShared)) }
        guard let first = own.first else {
            // What is uncertain may be missing, and staleness that the response allows need not be used.
            if request.onlyIfCached, answer.content == .notCached, judged.contains(where: { $0.1?.mayBeGiven != true })
            {
                return .ended(.notCached)
            }
            if request.onlyIfCached, let best = judged.first(where: { $0.1?.mayBeGivenWhileAsking == true })?.0 {
                stored = nil
                return .given(best.kind, serial: best.serial, .stale)
            }
            let given = judged.filter { $0.1?.mayBeGiven == true }.compactMap(\.0)
            let best = given.first { $0.kind != .picture || $0.serial == serial } ?? given.first
            if let best {
                stored?.append(best)
                let isFresh = best.isFresh(time, isShared: isShared)
                return .given(best.kind, serial: best.serial, isFresh ? .cache : .stale)
            }
            if request.onlyIfCached { return .ended(.notCached) }
            return .wrong("\(path) was not asked for, though nothing stored may be given: \(described(judged, time))")
        }
        guard !request.onlyIfCached else { return .wrong("\(first.asked) was asked in spite of only-if-cached") }
        let conditions = String(first.asked.dropFirst(path.count))
        let asking = judged.filter {
            $0.1?.mayBeGiven != true && ($0.0?.conditions ?? "") == conditions
        }
        guard let (entry, verdict) = asking.first else {
            return .wrong("\(first.asked) was asked, with these stored: \(described(judged, time))")
        }
        if let entry, verdict?.mayBeGivenWhileAsking == true {
            stored = nil
            background(own, [entry])
            return .given(entry.kind, serial: entry.serial, .stale)
        }
        return process(own, entry, verdict, asked: time)
    }

    /// What a foreground request of the origin comes to.
    private mutating func process(
        _ own: [Exchange], _ entry: ModelEntry?, _ verdict: ModelEntry.Verdict?, asked time: Int
    ) -> Step {
        guard let exchange = own.first else { return .wrong("a 304 that confirms nothing was believed") }
        let reply = exchange.reply
        switch reply.kind {
        case .unreachable:
            guard let entry, let verdict, verdict.mayStandInForUnreachable || verdict.mayStandInForError else {
                return surplus(own, .ended(.unreachable))
            }
            stored = nil
            return surplus(own, standIn(entry))
        case .serverError:
            guard let entry, verdict?.mayStandInForError == true else { return surplus(own, .ended(.status(503))) }
            stored = nil
            return surplus(own, standIn(entry))
        case .notModified:
            guard let entry, entry.isConfirmed(by: reply) else {
                // What it was asked about may be taken for stored still, or for what the origin knows nothing of.
                if let entry { model.doubt(entry) }
                return process(Array(own.dropFirst()), nil, nil, asked: self.now)
            }
            let now = model.confirm(
                entry, by: reply, request, number: exchange.number, requestTime: time, responseTime: self.now)
            keep(now)
            return surplus(own, .given(entry.kind, serial: entry.serial, .revalidated))
        case .gone, .picture, .redirect:
            let kept = model.take(
                reply, to: request, exchange.path, number: exchange.number, requestTime: time, responseTime: now,
                asked: entry)
            if reply.kind == .gone { return surplus(own, .ended(.status(404))) }
            keep(kept)
            return surplus(own, .given(reply.kind, serial: reply.serial, .origin))
        }
    }

    /// What stands in for an origin that failed. A redirect is followed.
    private func standIn(_ entry: ModelEntry) -> Step { .given(entry.kind, serial: entry.serial, .stale) }

    private mutating func keep(_ entry: ModelEntry?) { if let entry { stored?.append(entry) } else { stored = nil } }

    private func surplus(_ own: [Exchange], _ step: Step) -> Step {
        own.count > 1 ? .wrong("\(own[1].asked) was asked once more") : step
    }

    /// What the origin says in the background of what was given stale.
    private mutating func background(_ own: [Exchange], _ candidates: [ModelEntry?]) {
        for exchange in own {
            let entry = candidates.first { $0?.conditions == String(exchange.asked.dropFirst(exchange.path.count)) }
            switch exchange.reply.kind {
            case .unreachable, .serverError: break
            case .notModified:
                guard let entry = entry ?? nil else { break }
                if entry.isConfirmed(by: exchange.reply) {
                    _ = model.confirm(
                        entry, by: exchange.reply, request, number: exchange.number, requestTime: now,
                        responseTime: now)
                } else {
                    model.doubt(entry)
                }
            case .gone, .picture, .redirect:
                _ = model.take(
                    exchange.reply, to: request, exchange.path, number: exchange.number, requestTime: now,
                    responseTime: now, asked: entry ?? candidates.first ?? nil)
            }
        }
    }

    private func described(_ judged: [(ModelEntry?, ModelEntry.Verdict?)], _ time: Int) -> String {
        let texts = judged.map { entry, verdict in
            guard let entry else { return "nothing" }
            return "\(entry.serial)\(entry.isCertain ? "" : "?") of age \(entry.currentAge(time)) ms, lifetime "
                + "\(entry.lifetime(isShared: isShared)) ms, selecting \(entry.selecting), "
                + "may be given: \(verdict?.mayBeGiven == true)"
                + (entry.isFromFuture(time) ? ", from the future" : "")
        }
        return texts.joined(separator: "; ")
    }
}
