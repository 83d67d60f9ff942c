import Foundation
import Pipeline
import Testing

@testable import PipelineHTTP

@Suite("Leases of a folder", .timeLimit(.minutes(5)))
final class FileLeasesTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "leases-\(UUID().uuidString)")

    init() throws { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(at: folder) }

    @Test("A hold that is dropped lets all waiters go on alone, since its load stores nothing any more")
    func dropped() async throws {
        let leases = FileLeases(folder: folder.path)
        var hold: FetchTurn? = try await leases.turn("x", patience: .seconds(60)) { false }
        guard case .hold? = hold else {
            Issue.record("The first has no lease.")
            return
        }
        try await withThrowingTaskGroup { group in
            for _ in 0..<3 { group.addTask { try await leases.turn("x", patience: .seconds(60)) { false } } }
            await leases.reaches(3)
            hold = nil
            for try await turn in group {
                guard case .alone = turn else {
                    Issue.record("A waiter got \(turn).")
                    continue
                }
            }
        }
    }
}
