import Glibc
import Pipeline

/// The variables that the command was started with.
enum Environment {
    static subscript(_ name: String) -> String? { getenv(name).map { String(path: $0) } }

    /// Whether a variable is there and not empty.
    static func isSet(_ name: String) -> Bool { !(self[name] ?? "").isEmpty }
}
