import Foundation
import Pipeline
import Stages

/// Measures how late another task of a server is while large images are decoded.
enum BlockedPool {
    static func run() async throws {
        let path = "Tests/Images/good/photo-12mp-baseline-420.jpg"
        let photo = [UInt8](try Data(contentsOf: URL(filePath: path)))
        print("\nHow late a task is that sleeps 1 ms at a time, during 8 decodes of a 12 MP photograph:")
        report("  decodes on threads of their own", try await lateness { try await decodeOnThreads(photo) })
        report("  decodes on Swift's cooperative threads", try await lateness { try decodeHere(photo) })
        report("  no decodes, for comparison", try await lateness { try await Task.sleep(for: .milliseconds(100)) })
    }

    /// Returns the lateness of each sleep in milliseconds, while `work` runs eight times concurrently, three times in a
    /// row.
    private static func lateness(_ work: @escaping @Sendable () async throws -> Void) async throws -> [Double] {
        let sleeper = Task.detached {
            var late: [Double] = []
            let clock = ContinuousClock()
            while !Task.isCancelled {
                let start = clock.now
                try? await clock.sleep(until: start + .milliseconds(1), tolerance: .zero)
                late.append((clock.now - start - .milliseconds(1)) / .milliseconds(1))
            }
            return late
        }
        for _ in 0..<3 {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<8 { group.addTask { try await work() } }
                try await group.waitForAll()
            }
        }
        sleeper.cancel()
        return await sleeper.value
    }

    private static func decodeOnThreads(_ photo: [UInt8]) async throws {
        _ = try await ImagePipeline {
            ReadInline()
            Decode()
        }.load(ImageRequest(.bytes(photo)))
    }

    /// Does the same decode on the task's cooperative thread.
    private static func decodeHere(_ photo: [UInt8]) throws {
        let cancellation = WorkCancellation()
        let decoder = ImageCodec.jpeg.decoder
        let header = try decoder.header(of: photo, cancellation: cancellation)
        _ = try decoder.decode(
            photo, header: header, box: nil, options: DecodeOptions(), cancellation: cancellation)
    }

    private static func report(_ name: String, _ lateness: [Double]) {
        let sorted = lateness.sorted()
        func percentile(_ share: Double) -> String {
            String(format: "%7.2f ms", sorted[min(sorted.count - 1, Int(Double(sorted.count) * share))])
        }
        let padding = String(repeating: " ", count: max(1, 44 - name.count))
        print("\(name)\(padding)median \(percentile(0.5))   99th percentile \(percentile(0.99))")
    }
}
