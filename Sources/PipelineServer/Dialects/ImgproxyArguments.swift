import HTTPTypes

/// One processing option of a path: its name and its arguments.
struct ImgproxyArguments {
    let name: Substring
    private let words: [Substring]

    /// Splits an option such as `rs:fill:300:200`.
    init(_ option: some StringProtocol) {
        let words = Substring(option).split(separator: ":", omittingEmptySubsequences: false)
        name = words[0]
        self.words = Array(words.dropFirst())
    }

    /// The option as it was written, for messages.
    var text: String { ([name] + words).joined(separator: ":") }

    var count: Int { words.count }

    /// All arguments.
    var all: [Substring] { words }

    /// An argument; empty if it is missing.
    subscript(index: Int) -> Substring { words.indices.contains(index) ? words[index] : "" }

    /// - Throws: 400 for more arguments than the option has.
    func check(atMost count: Int) throws(Problem) {
        guard words.count <= count else { throw wrong("It has at most \(count) arguments.") }
    }

    /// Reads an argument that is a whole number; `nil` if it is empty, which keeps the earlier value.
    func number(at index: Int, _ range: ClosedRange<Int>) throws(Problem) -> Int? {
        guard !self[index].isEmpty else { return nil }
        guard let number = self[index].plainNumber, range.contains(number) else {
            throw wrong("Write a whole number from \(range.lowerBound) to \(range.upperBound).")
        }
        return number
    }

    /// Reads an argument that is a decimal, with a minus sign if the range has negative numbers; `nil` if it is empty.
    func decimal(at index: Int, _ range: ClosedRange<Double>) throws(Problem) -> Double? {
        guard !self[index].isEmpty else { return nil }
        guard let number = self[index].signedDecimal, range.contains(number) else {
            throw wrong("Write a number from \(range.lowerBound) to \(range.upperBound).")
        }
        return number
    }

    /// Reads an argument that is true or false; `nil` if it is empty.
    func flag(at index: Int) throws(Problem) -> Bool? {
        switch self[index] {
        case "": nil
        case "1", "t", "T", "true", "True", "TRUE": true
        case "0", "f", "F", "false", "False", "FALSE": false
        default: throw wrong("Write 1 or 0.")
        }
    }

    /// Reads the only argument, which may not be empty.
    func number(_ range: ClosedRange<Int>) throws(Problem) -> Int { try only(number(at: 0, range)) }

    /// Reads the only argument, which may not be empty.
    func decimal(_ range: ClosedRange<Double>) throws(Problem) -> Double { try only(decimal(at: 0, range)) }

    /// Reads the only argument, which may not be empty.
    func flag() throws(Problem) -> Bool { try only(flag(at: 0)) }

    /// Refuses the option unless its only argument is `value`, which asks for what the server does anyway.
    func require(_ value: Bool, _ reason: String) throws(Problem) {
        guard try flag() == value else { throw wrong("\(reason) Leave it out, or write \(name):\(value ? 1 : 0).") }
    }

    /// Makes the problem of an option that is malformed or not supported.
    /// - Parameter advice: What to write instead, as sentences.
    func wrong(_ advice: String) -> Problem {
        Problem(.badRequest, "The processing option \(text) is wrong. \(advice)")
    }

    private func only<Value>(_ value: Value?) throws(Problem) -> Value {
        try check(atMost: 1)
        guard let value else { throw wrong("It needs an argument.") }
        return value
    }
}
