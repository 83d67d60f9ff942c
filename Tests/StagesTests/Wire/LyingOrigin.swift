import Pipeline
import PipelineTesting
import TestFixtures

/// An origin, or a proxy for any host, that is honest two times of five, and lies else in every way of ``Lie``.
final class LyingOrigin: Sendable {
    let origin: RawOrigin
    private let told: Lock<[Lie: Int]>

    init(seed: UInt64) throws {
        let state = Lock((asked: [String: UInt64](), told: [Lie: Int]()))
        let told = Lock([Lie: Int]())
        self.told = told
        origin = try RawOrigin { request, connection in
            let label = Self.label(request)
            let number = state.withLock { state in
                state.asked[label, default: 0] += 1
                return state.asked[label] ?? 0
            }
            // The same for the same request of a label, in whatever order the labels' requests arrive.
            let seed = label.utf8.reduce(seed &* 1_000_003 &+ number) { $0 &* 31 &+ UInt64($1) }
            var random = SeededGenerator(seed: seed)
            let content = DescribedContent(label: label, version: Int.random(in: 1...999_999, using: &random))
            let isHonest = Int.random(in: 0..<5, using: &random) < 2
            let lie = isHonest ? nil : Lie.allCases.randomElement(using: &random)
            var exchange = LyingExchange(request: request, connection: connection, content: content, random: random)
            guard let lie else { return exchange.answerHonestly() }
            told.withLock { $0[lie, default: 0] += 1 }
            lie.tell(&exchange)
        }
    }

    /// The lies that were told.
    var lies: Set<Lie> { told.withLock { Set($0.keys) } }

    /// The host and the last part of the path that a request is for, whether it is to an origin or a proxy.
    private static func label(_ request: RawRequest) -> String {
        let host = request.fields["host"]?.prefix { $0 != ":" } ?? ""
        return "\(host)/\(request.target.split(separator: "/").last ?? "")"
    }
}
