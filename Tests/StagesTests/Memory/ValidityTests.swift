import Foundation
import Pipeline
import Stages
import Testing

@Suite("A validity ends when the one who decides says so")
struct ValidityTests {
    private static let stored = Date(timeIntervalSince1970: 1_000_000)

    private static func validity(server: Double? = nil, fixed: Double? = nil, asks: Bool = false) -> Validity {
        Validity(
            storedAt: stored, serverUntil: server.map { stored + $0 }, fixedUntil: fixed.map { stored + $0 },
            alwaysRevalidates: asks)
    }

    @Test(
        "as requested",
        arguments: [
            (validity(server: 60), Expiry.standard, 60.0),
            (validity(), .standard, 86_400),
            (validity(), .server(otherwise: .zero), 0),
            (validity(server: 60, asks: true), .standard, 0),
            // What the writer fixed bounds what the server gives a reader who leaves it to the server, as on disk.
            (validity(server: 60, fixed: 3600), .standard, 60),
            (validity(fixed: 3600), .standard, 3600),
            // A reader may shorten what the writer fixed, never lengthen it.
            (validity(server: 60, fixed: 3600), .after(.seconds(100)), 100),
            (validity(server: 60, fixed: 3600), .after(.seconds(9000)), 3600),
            (validity(server: 60), .after(.seconds(100)), 100),
            (validity(server: 60, fixed: 3600, asks: true), .never, nil),
        ] as [(Validity, Expiry, Double?)])
    func asRequested(validity: Validity, expiry: Expiry, seconds: Double?) {
        #expect(validity.end(for: expiry, under: .asRequested) == seconds.map { Self.stored + $0 })
    }

    @Test(
        "under HTTP's rules alone",
        arguments: [
            (validity(server: 60, fixed: 3600), Expiry.after(.seconds(9000)), 60.0),
            (validity(server: 60), .never, 60),
            (validity(), .server(otherwise: .seconds(5)), 0),
            (validity(fixed: 3600), .after(.seconds(9000)), 0),
        ])
    func underHTTP(validity: Validity, expiry: Expiry, seconds: Double) {
        #expect(validity.end(for: expiry, under: .http) == Self.stored + seconds)
    }
}
