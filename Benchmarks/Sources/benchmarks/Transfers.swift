import Foundation
import Pipeline
import Stages

/// Measures 100,000 GETs of 20 KB from nginx on this machine, 32 at a time, with `CurlClient` and with `curl -Z`.
///
/// It needs the packages nginx-light and curl. The runs alternate, and each is compared with the one that follows it, as
/// other load on the machine affects both alike.
enum Transfers {
    private static let requests = 100_000
    private static let concurrency = 32
    private static let rounds = 9
    private static let bodyBytes = 20_000

    /// The costs of one run.
    private struct Run {
        let perSecond: Double
        /// The CPU time of a request, user and system, in microseconds.
        let cpu: Double

        init(seconds: Double, cpu: Double) {
            perSecond = Double(requests) / seconds
            self.cpu = cpu / Double(requests) * 1e6
        }
    }

    static func run() async throws {
        let server = try await LocalServer(bodyBytes: bodyBytes)
        defer { server.stop() }
        print("\(requests) GETs of \(bodyBytes / 1000) KB from nginx on this machine, \(concurrency) at a time:")
        var ours: [Run] = []
        var theirs: [Run] = []
        for _ in 0..<rounds {
            ours.append(try await byClient(server.url))
            report("  CurlClient", ours[ours.count - 1])
            theirs.append(try byCommand(server.url))
            report("  curl -Z", theirs[theirs.count - 1])
        }
        let speed = median(zip(ours, theirs).map { $0.perSecond / $1.perSecond })
        let cpu = median(zip(ours, theirs).map { $0.cpu / $1.cpu })
        print(
            String(
                format: "  CurlClient to curl -Z, medians of \(rounds) pairs: requests per second %.2f "
                    + "(at least 0.95), CPU per request %.2f (at most 1.3)", speed, cpu))
    }

    private static func byClient(_ url: URL) async throws -> Run {
        var options = CurlClient.Options(addresses: .any)
        options.maximumConnectionsPerHost = concurrency
        let client = CurlClient(options)
        let before = (clock.uptime, processorTime(RUSAGE_SELF))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<concurrency {
                group.addTask {
                    for _ in stride(from: task, to: requests, by: concurrency) {
                        let response = try await client.send(TransferRequest(url: url))
                        var count = 0
                        for try await chunk in response.body { count += chunk.count }
                        guard response.status == 200, count == bodyBytes else { throw Unexpected() }
                    }
                }
            }
            try await group.waitForAll()
        }
        let run = Run(
            seconds: (clock.uptime - before.0) / .seconds(1), cpu: processorTime(RUSAGE_SELF) - before.1)
        await client.shutdown()
        return run
    }

    private static func byCommand(_ url: URL) throws -> Run {
        let before = (clock.uptime, processorTime(RUSAGE_CHILDREN))
        let curl = Process()
        curl.executableURL = URL(filePath: "/usr/bin/curl")
        curl.arguments = [
            "--disable", "--silent", "--fail", "--parallel", "--parallel-max", "\(concurrency)",
            "\(url.absoluteString)?[1-\(requests)]",
        ]
        curl.standardOutput = FileHandle.nullDevice
        // curl shows its progress even with --silent.
        curl.standardError = FileHandle.nullDevice
        try curl.run()
        curl.waitUntilExit()
        guard curl.terminationStatus == 0 else { throw Unexpected() }
        return Run(
            seconds: (clock.uptime - before.0) / .seconds(1), cpu: processorTime(RUSAGE_CHILDREN) - before.1)
    }

    private static let clock = SystemClock()

    /// Returns the CPU time of this process, or of its ended children, in seconds.
    private static func processorTime(_ who: __rusage_who) -> Double {
        var usage = rusage()
        getrusage(who.rawValue, &usage)
        func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
        return seconds(usage.ru_utime) + seconds(usage.ru_stime)
    }

    private static func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }

    private static func report(_ name: String, _ run: Run) {
        let padding = String(repeating: " ", count: 14 - name.count)
        print(name + padding + String(format: "%7.0f requests/s  %5.1f µs CPU a request", run.perSecond, run.cpu))
    }

    private struct Unexpected: Error {}
}
