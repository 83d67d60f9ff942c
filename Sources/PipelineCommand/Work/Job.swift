import Pipeline
import Stages

/// One source of a run and where its results go.
struct Job: Sendable {
    /// The argument, or a file from a folder or list.
    let input: String
    /// The results; an error if there can be none.
    let targets: Result<[OutputTarget], LoadError>

    init(input: String, targets: Result<[OutputTarget], LoadError>) {
        self.input = input
        self.targets = targets
    }

    /// A source that is only read.
    init(reading input: String) { self.init(input: input, targets: .success([])) }

    /// The input without credentials or query values, for messages.
    var shown: String {
        input == "-" ? "standard input" : (try? ImageSource(parsing: input).redacted) ?? printable(input)
    }
}
