import Foundation
import Pipeline
import Stages

/// Four processes at once in one folder, watched for its size.
struct SharingTrial {
    let folder: String
    let operations: Int
    let seconds: Double
    let seed: UInt64

    /// Lets them work; what was survived, in a sentence.
    func run() async throws -> String {
        let children = try (0..<4).map { number in
            try Child(["share", folder, "\(seed &+ UInt64(number))", "\(operations)", "\(Int(seconds))"])
        }
        var largest = 0
        var told = children.map { _ in "" }
        var waited = children.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
        while waited.contains(where: { $0.fd >= 0 }) {
            poll(&waited, nfds_t(waited.count), -1)
            largest = max(largest, size(folder))
            for index in waited.indices where waited[index].revents != 0 {
                // poll leaves aside what is negative.
                if let more = children[index].readMore() { told[index] += more } else { waited[index].fd = -1 }
            }
        }
        var counts = [0, 0, 0]
        for (child, said) in zip(children, told) {
            child.process.waitUntilExit()
            let numbers = said.split(whereSeparator: \.isWhitespace).compactMap { Int($0) }
            guard child.process.terminationStatus == 0, numbers.count == 3 else {
                throw TrialFailure("seed \(seed): a process ended with \(child.process.terminationStatus): \(said)")
            }
            for index in counts.indices { counts[index] += numbers[index] }
        }
        guard largest <= Sharing.byteLimit / 10 * 11 else {
            throw TrialFailure("seed \(seed): the folder grew to \(largest) bytes, the bound is \(Sharing.byteLimit)")
        }
        let trial = TrialCache(folder, byteLimit: Sharing.byteLimit)
        let report = try await trial.cache.verify()
        guard report.findings.isEmpty else { throw TrialFailure("seed \(seed): verify found \(report.findings)") }
        return "survived 4 processes in one folder: \(counts.reduce(0, +)) loads (\(counts[0]) from disk, \(counts[1]) "
            + "fetched, \(counts[2]) confirmed) without an error or a wrong byte, \(largest) bytes on disk at most with a "
            + "bound of \(Sharing.byteLimit), \(report.entries) entries sound at the end."
    }

    private func size(_ folder: String) -> Int {
        let paths = FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? []
        return paths.reduce(0) { sum, path in
            var status = stat()
            let found = stat(folder + "/" + path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
            return sum + (found ? Int(status.st_size) : 0)
        }
    }
}
