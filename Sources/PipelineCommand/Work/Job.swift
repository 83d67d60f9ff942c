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

    /// The source's path, if it is a file.
    private let path: String?

    init(input: String, targets: Result<[OutputTarget], LoadError>, isRepeated: Bool = false) {
        self.input = input
        path = if input != "-", case .file(let path)? = try? ImageSource(argument: input) { path } else { nil }
        self.targets = targets
        self.isRepeated = isRepeated
    }

    /// A source that is only read.
    init(reading input: String) { self.init(input: input, targets: .success([])) }

    /// What the system says about the source now, if it is a file.
    var file: FileFacts? { path.flatMap { FileFacts($0) } }

    /// Whether it is a file that doesn't exist.
    var isMissing: Bool { path != nil && file == nil && (errno == ENOENT || errno == ENOTDIR) }

    /// The input without credentials or query values, for messages.
    var shown: String {
        input == "-" ? "standard input" : (try? ImageSource(parsing: input).redacted) ?? printable(input)
    }
}
