import Foundation
import Pipeline

/// Cancels sleeps of an hour, a tenth of them at a time and two seconds apart; prints the kilobytes by which the process
/// has grown since the first tenth.
enum Sleeping {
    static func run(count: Int) async throws {
        try await cancelled(count / 10)
        let before = try residentPages()
        for _ in 1..<10 {
            try await Task.sleep(for: .seconds(2))
            try await cancelled(count / 10)
        }
        print((try residentPages() - before) * 4)
    }

    private static func residentPages() throws -> Int {
        let numbers = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")
        return numbers.count > 1 ? Int(numbers[1]) ?? 0 : 0
    }

    private static func cancelled(_ count: Int) async throws {
        for _ in 0..<count {
            let task = Task { try await SystemClock().sleep(for: .seconds(3600)) }
            await Task.yield()
            task.cancel()
            _ = await task.result
        }
    }
}
