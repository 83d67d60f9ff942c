import Glibc

/// Messages for people, which don't mix with results.
enum StandardError {
    /// Whether it is a terminal.
    static var isTerminal: Bool { isatty(STDERR_FILENO) == 1 }

    /// Whether a line can be drawn again and again.
    static var isRedrawable: Bool { isTerminal && Environment["TERM"] != "dumb" }

    /// Writes a text. A failure is ignored, since there is no other place to report it.
    static func write(_ text: String) { _ = StandardStream.write(Array(text.utf8), to: STDERR_FILENO) }

    /// Prints a warning: something is wrong, but the work continues.
    static func warn(_ text: some CustomStringConvertible) { write("\(Program.name): warning: \(text)\n") }
}
