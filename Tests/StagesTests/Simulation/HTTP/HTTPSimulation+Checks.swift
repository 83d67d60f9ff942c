import Pipeline

/// What the model says of the responses.
extension HTTPSimulation {
    func key(_ request: Request) -> String {
        "\(request.program) \(request.path) \(request.request.fields)"
    }

    func isInMemory(_ request: Request) -> Bool { request.isLoader && memories[key(request)] != nil }

    func described(_ request: Request) -> String {
        "program \(request.program) gets \(request.path) \(request.request.fields) through "
            + (request.isLoader ? "ImageLoader" : "CachingClient")
    }

    /// Compares what came with what the model allows and requires.
    func check(
        _ request: Request, _ answer: Scenario.Answer, _ exchanges: [SimulatedSite.Exchange],
        begun: (candidates: [ModelEntry?], time: Int)? = nil, failing: ModelReply.Kind?
    ) -> String? {
        _ = origin.takeAsked()
        requests += 1
        if exchanges.isEmpty { given += 1 }
        // What runs in the background may ask before or after.
        let exchanges = exchanges.sorted { ($0.path, $0.number) < ($1.path, $1.number) }
        note("\(described(request)): \(answer), asked \(exchanges.map { "\($0.asked) -> \($0.reply)" })")
        let serial: String? = if case .image(let serial) = answer.content { serial } else { nil }
        if exchanges.isEmpty, request.isLoader, let memory = memories[key(request)], memory.serial == serial,
            memory.hops.allSatisfy({ $0.judge(request.request, now: now, isShared: users == .shared).mayBeGiven })
        {
            return nil
        }
        var walk = HTTPWalk(
            request.request, models[request.model], exchanges, gave: answer, now: now)
        let difference = walk.follow(request.path, begun: begun)
        if let difference { return difference }
        models[request.model] = walk.model
        let memory = memories[key(request)]
        if request.isLoader {
            let mayBeKept = answer.source != .stale && serial != nil
            if mayBeKept, let stored = walk.stored, let serial {
                memories[key(request)] = Memory(serial: serial, hops: stored)
            } else if !exchanges.isEmpty, walk.content != .unreachable, walk.content != .status(503),
                walk.source != .stale
            {
                memories[key(request)] = nil
            }
        }
        guard walk.content != answer.content else {
            let isComparable = walk.hasOneHop || !request.isLoader
            guard isComparable, let source = walk.source, source != answer.source else { return nil }
            return "expected from \(source)"
        }
        if request.isLoader, let memory, memory.serial == serial, walk.content == .unreachable,
            memory.hops.allSatisfy({
                $0.judge(request.request, now: now, isShared: users == .shared).mayStandInForUnreachable
            })
        {
            return nil
        }
        return "expected \(walk.content.map { "\($0)" } ?? "nothing")"
    }
}
