package import Logging
import Pipeline

/// Keeps what is logged, for a test to look at.
package final class LogRecorder: Sendable {
    private let recorded = Lock<[String]>([])

    package init() {}

    /// Warnings and worse, in their order.
    package var warnings: [String] { recorded.withLock { $0 } }

    package var logger: Logger { Logger(label: "test") { _ in Handler(recorder: self) } }

    private struct Handler: LogHandler {
        let recorder: LogRecorder
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            guard event.level >= .warning else { return }
            recorder.recorded.withLock { $0.append("\(event.message)") }
        }
    }
}
