import Glibc

/// What people read while the result goes elsewhere.
enum StandardError {
    /// Whether a person is looking.
    static var isTerminal: Bool { isatty(STDERR_FILENO) == 1 }

    /// Whether a line can be drawn again and again.
    static var isRedrawable: Bool { isTerminal && Environment["TERM"] != "dumb" }

    /// Writes a text. Where it can't be written there is nobody left to tell.
    static func write(_ text: String) { _ = StandardStream.write(Array(text.utf8), to: STDERR_FILENO) }

    /// Tells of something that is wrong, though the work continues.
    static func warn(_ text: some CustomStringConvertible) { write("pipectl: warning: \(text)\n") }
}
