import Glibc
import Pipeline
import Stages

/// One source of a run and where its results go.
struct Job: Sendable {
    /// The argument, or a file from a folder or list.
    let input: String
    /// The results; an error if there can be none.
    let targets: Result<[OutputTarget], LoadError>

    /// Whether an earlier job has the same input and results.
    let isRepeated: Bool

    init(input: String, targets: Result<[OutputTarget], LoadError>, isRepeated: Bool = false) {
        self.input = input
        self.targets = targets
        self.isRepeated = isRepeated
    }

    /// A source that is only read.
    init(reading input: String) { self.init(input: input, targets: .success([])) }

    /// What the system says about the source, if it is a file.
    var file: FileFacts? {
        guard input != "-", case .file(let path)? = try? ImageSource(argument: input) else { return nil }
        return FileFacts(path)
    }

    /// Whether it is a file that doesn't exist.
    var isMissing: Bool {
        guard input != "-", case .file(let path)? = try? ImageSource(argument: input), FileFacts(path) == nil else {
            return false
        }
        return errno == ENOENT || errno == ENOTDIR
    }

    /// The input without credentials or query values, for messages.
    var shown: String {
        input == "-" ? "standard input" : (try? ImageSource(parsing: input).redacted) ?? printable(input)
    }
}
