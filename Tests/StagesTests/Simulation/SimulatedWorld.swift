import Essentials
import HTTPTypes
import Pipeline
import PipelineTesting
import Stages

/// What a simulation runs in: a clock that the simulation moves, a store in memory, one generator for all chance, and
/// the record of what went against the rules.
final class SimulatedWorld: Sendable {
    /// How long a response is fresh.
    static let lifetime: Double = 60

    private struct State {
        var generator: SeededGenerator
        var stored: [Int: Date] = [:]
        /// The requests under way for each image.
        var underWay: [Int: Set<Int>] = [:]
        /// Requests that another one for the same image has met.
        var met: Set<Int> = []
        /// How many fetches of each image set out before it was removed, and have yet to send their request.
        var outdated: [Int: Int] = [:]
        var listDepth = 0
        var requests = 0
        var breaches: [String] = []
        var digest: UInt64 = 14_695_981_039_346_656_037
    }

    let seed: UInt64
    let clock = ManualClock()
    private let state: Lock<State>

    init(seed: UInt64) {
        self.seed = seed
        state = Lock(State(generator: SeededGenerator(seed: seed ^ 0x5EED)))
    }

    var requests: Int { state.withLock { $0.requests } }
    var breaches: [String] { state.withLock { $0.breaches } }
    var isIdle: Bool { state.withLock { $0.underWay.isEmpty } }

    /// Everything that happened, in its order, as one number: equal for equal runs.
    var digest: UInt64 { state.withLock { $0.digest } }

    /// A number by chance.
    func chance(_ range: Range<Int>) -> Int { state.withLock { Int.random(in: range, using: &$0.generator) } }

    func breach(_ text: String) { state.withLock { $0.breaches.append(text) } }

    /// Takes part in the record.
    func note(_ words: Int...) {
        state.withLock { state in
            for word in words {
                state.digest = (state.digest ^ UInt64(truncatingIfNeeded: word)) &* 1_099_511_628_211
            }
        }
    }

    func url(_ number: Int) -> URL { URL(string: "http://origin.test/\(number)") ?? URL(filePath: "/") }

    func number(_ url: URL) -> Int { Int(url.lastPathComponent) ?? -1 }

    func isFresh(_ number: Int) -> Bool {
        let now = clock.now
        return state.withLock { state in
            state.stored[number].map { now.timeIntervalSince($0) < Self.lifetime } ?? false
        }
    }

    func store(_ number: Int) {
        let now = clock.now
        state.withLock { $0.stored[number] = now }
        note(3, number)
    }

    /// Removes an image from the store: requests under way for it no longer stand for those to come.
    /// - Parameter fetches: How many fetches of the image are under way.
    func remove(_ number: Int, fetches: Int) {
        state.withLock { state in
            state.stored[number] = nil
            let removed = state.underWay.removeValue(forKey: number) ?? []
            state.met.subtract(removed)
            state.outdated[number] = max(0, fetches - removed.count)
        }
        note(6, number)
    }

    /// Whether the list's own code runs now.
    var isInList: Bool { state.withLock { $0.listDepth > 0 } }

    /// Runs the list's own code.
    func inList(_ body: () -> Void) {
        state.withLock { $0.listDepth += 1 }
        body()
        state.withLock { $0.listDepth -= 1 }
    }

    /// A request begins: it must not be one that need not be made.
    /// - Returns: The request's own number.
    func begin(_ number: Int) -> Int {
        let isFresh = isFresh(number)
        let request = state.withLock { state in
            state.requests += 1
            if isFresh { state.breaches.append("\(number) was requested while fresh.") }
            if state.outdated[number, default: 0] > 0 {
                state.outdated[number, default: 0] -= 1
            } else {
                state.met.formUnion(state.underWay[number, default: []])
                state.underWay[number, default: []].insert(state.requests)
            }
            return state.requests
        }
        note(1, number)
        return request
    }

    /// A request that nobody has cancelled continues: no other one for the same image may have begun. A cancelled one may
    /// still be in the hands of a slow observer, and notices only after it.
    func goOn(_ number: Int, _ request: Int) {
        state.withLock { state in
            if state.met.remove(request) != nil { state.breaches.append("\(number) was requested twice at once.") }
        }
    }

    func end(_ number: Int, _ request: Int) {
        state.withLock { state in
            state.met.remove(request)
            guard state.underWay[number]?.remove(request) != nil else { return }
            if state.underWay[number]?.isEmpty == true { state.underWay[number] = nil }
        }
        note(2, number)
    }
}
