import Logging
import Pipeline

/// Prints the library's log as messages of the command: each warning or error on a line of standard error.
struct WarningLog: LogHandler {
    let isQuiet: Bool
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.warning

    init(isQuiet: Bool) { self.isQuiet = isQuiet }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        if !isQuiet { StandardError.warn(printable("\(event.message)")) }
    }
}
