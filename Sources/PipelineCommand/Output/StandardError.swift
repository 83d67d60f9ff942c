import LibC
import Logging
import Pipeline

/// Messages for people, which don't mix with results.
enum StandardError {
    /// Whether it is a terminal.
    static var isTerminal: Bool { isatty(STDERR_FILENO) == 1 }

    /// Whether a line can be drawn again and again.
    static var isRedrawable: Bool { isTerminal && Environment["TERM"] != "dumb" }

    /// Writes a text. A failure is ignored, since there is no other place to report it.
    static func write(_ text: String) { _ = StandardStream.write(Array(text.utf8), to: STDERR_FILENO) }

    /// Draws a line in place of the last one.
    static func redraw(_ text: String = "") { write("\r\u{1B}[K\(text)") }

    /// Prints a warning: something is wrong, but the work continues.
    static func warn(_ text: some CustomStringConvertible) { write("\(Program.name): warning: \(text)\n") }
}

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
