import Pipeline
import Stages

/// One source of a run and where its results go.
struct Job: Sendable {
    /// What the user gave, or what a folder held.
    let input: String
    /// The results; an error where there can be none.
    let targets: Result<[OutputTarget], LoadError>

    init(input: String, targets: Result<[OutputTarget], LoadError>) {
        self.input = input
        self.targets = targets
    }

    /// A source that is only read.
    init(reading input: String) { self.init(input: input, targets: .success([])) }

    /// The input as it may be shown.
    var shown: String {
        input == "-" ? "standard input" : (try? ImageSource(parsing: input).redacted) ?? printable(input)
    }
}
