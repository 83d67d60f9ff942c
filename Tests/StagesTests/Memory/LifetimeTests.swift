import Foundation
import Pipeline
import Stages
import Testing

@Suite("A lifetime ends when the one who decides says so")
struct LifetimeTests {
    private static let stored = Date(timeIntervalSince1970: 1_000_000)

    private static func lifetime(server: Double? = nil, fixed: Double? = nil, asks: Bool = false) -> Lifetime {
        Lifetime(
            storedAt: stored, serverUntil: server.map { stored + $0 }, fixedUntil: fixed.map { stored + $0 },
            alwaysRevalidates: asks)
    }

    @Test(
        "as requested",
        arguments: [
            (lifetime(server: 60), Expiry.standard, 60.0),
            (lifetime(), .standard, 86_400),
            (lifetime(), .server(otherwise: .zero), 0),
            (lifetime(server: 60, asks: true), .standard, 0),
            // What the writer fixed holds for a reader that leaves it to the server.
            (lifetime(server: 60, fixed: 3600), .standard, 3600),
            // A reader may shorten what the writer fixed, never lengthen it.
            (lifetime(server: 60, fixed: 3600), .after(.seconds(100)), 100),
            (lifetime(server: 60, fixed: 3600), .after(.seconds(9000)), 3600),
            (lifetime(server: 60), .after(.seconds(100)), 100),
            (lifetime(server: 60, fixed: 3600, asks: true), .never, nil),
        ] as [(Lifetime, Expiry, Double?)])
    func asRequested(lifetime: Lifetime, expiry: Expiry, seconds: Double?) {
        #expect(lifetime.end(for: expiry, under: .asRequested) == seconds.map { Self.stored + $0 })
    }

    @Test(
        "under HTTP's rules alone",
        arguments: [
            (lifetime(server: 60, fixed: 3600), Expiry.after(.seconds(9000)), 60.0),
            (lifetime(server: 60), .never, 60),
            (lifetime(), .server(otherwise: .seconds(5)), 5),
            (lifetime(fixed: 3600), .after(.seconds(9000)), 0),
        ])
    func underHTTP(lifetime: Lifetime, expiry: Expiry, seconds: Double) {
        #expect(lifetime.end(for: expiry, under: .http) == Self.stored + seconds)
    }
}
