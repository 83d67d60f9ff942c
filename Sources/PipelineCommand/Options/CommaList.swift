import ArgumentParser

/// Several values of one option, separated by commas.
struct CommaList<Value: ExpressibleByArgument & Sendable>: ExpressibleByArgument, Sendable {
    let values: [Value]

    init?(argument: String) {
        let parts = argument.split(separator: ",", omittingEmptySubsequences: false)
        values = parts.compactMap { Value(argument: String($0)) }
        guard values.count == parts.count else { return nil }
    }
}
