import Glibc

/// What people read while the result goes elsewhere.
enum StandardError {
    /// Whether a person is looking.
    static var isTerminal: Bool { isatty(STDERR_FILENO) == 1 }

    static func write(_ text: String) { StandardStream.write(Array(text.utf8), to: STDERR_FILENO) }
}
