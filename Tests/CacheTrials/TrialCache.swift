import Foundation
import Logging
import Pipeline
import Stages

/// A cache under trial, with what it logged.
struct TrialCache {
    let cache: HTTPCache
    private let log = Lock<[String]>([])

    init(_ folder: String, byteLimit: Int, clock: any LoadClock = SystemClock()) {
        let log = log
        cache = HTTPCache(
            folder: folder, byteLimit: byteLimit, clock: clock,
            logger: Logger(label: "trial") { _ in Recorder(log: log) })
    }

    /// Warnings so far: of a trial that goes well, none.
    var warnings: [String] { log.withLock { $0 } }

    /// Checks that a body is whole and another name's nowhere.
    static func check(_ bytes: [UInt8], is name: String) throws -> TrialBody {
        guard let body = TrialBody(read: bytes) else {
            throw TrialFailure("a body of \(bytes.count) bytes for \(name) is not what was stored")
        }
        guard body.name == name else { throw TrialFailure("\(name) has the body of \(body.name)") }
        return body
    }

    static func url(_ name: String) throws -> URL {
        guard let url = URL(string: "https://trial.example/\(name)") else { throw TrialFailure("no URL for \(name)") }
        return url
    }

    static func key(_ name: String) throws -> SourceKey {
        guard let key = SourceKey(ImageRequest(try url(name))) else { throw TrialFailure("no key for \(name)") }
        return key
    }

    private struct Recorder: LogHandler {
        let log: Lock<[String]>
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.warning

        init(log: Lock<[String]>) { self.log = log }

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) { log.withLock { $0.append("\(event.message)") } }
    }
}

/// What a trial did not survive.
struct TrialFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
