import HTTPTypes

/// The components of a path, which are read from the left: thumbor's grammar has one order.
struct ThumborPath {
    private var rest: Substring

    init(_ text: Substring) { rest = text }

    /// Takes the next component if `read` returns a value for it. The last component is the source, and never taken.
    mutating func take<Value>(_ read: (Substring) throws(Problem) -> Value?) throws(Problem) -> Value? {
        guard let slash = rest.firstIndex(of: "/"), let value = try read(rest[..<slash]) else { return nil }
        rest = rest[rest.index(after: slash)...]
        return value
    }

    /// Takes the next component if it is this word.
    mutating func take(_ word: String) -> Bool {
        guard rest.hasPrefix(word + "/") else { return false }
        rest = rest.dropFirst(word.count + 1)
        return true
    }

    /// Takes `filters:…`, which may have slashes between its parentheses, and returns each filter; none if it isn't
    /// next.
    /// - Throws: 400 for a list without its end.
    mutating func filters() throws(Problem) -> [ThumborArguments] {
        guard rest.hasPrefix("filters:") else { return [] }
        guard let end = rest.firstRange(of: ")/") else {
            throw Problem(
                .badRequest, "The filters have no end. Write filters:NAME(ARGUMENTS):NAME(ARGUMENTS)/ and the source.")
        }
        let list = rest[..<end.lowerBound].dropFirst(8)
        rest = rest[end.upperBound...]
        guard let decoded = list.percentDecoded else {
            throw Problem(.badRequest, "The filters are not percent-encoded.")
        }
        var filters: [ThumborArguments] = []
        var text = decoded[...]
        while let close = text.firstRange(of: "):") {
            filters.append(try ThumborArguments(text[..<close.lowerBound]))
            text = text[close.upperBound...]
        }
        return filters + [try ThumborArguments(text)]
    }

    /// The source: what is left.
    /// - Throws: 400 if it is missing or malformed, or if it begins with an option, which thumbor would take for a
    ///   folder.
    func source() throws(Problem) -> String {
        guard let source = rest.percentDecoded, !source.isEmpty else {
            throw Problem(.badRequest, "The source is missing. Write /thumbor/SIGNATURE/300x200/SOURCE.")
        }
        if let slash = rest.firstIndex(of: "/"), let first = rest[..<slash].percentDecoded, Self.isOption(first) {
            throw Problem(
                .badRequest,
                "\(first) is in the wrong place. The order is trim, crop, fit-in, size, left or right, top or bottom, "
                    + "smart, filters. If it is a folder, write %2F for the slash after it.")
        }
        return source
    }

    private static func isOption(_ text: String) -> Bool {
        let words: Set = [
            "debug", "meta", "trim", "left", "center", "right", "top", "middle", "bottom", "smart", "unsafe",
        ]
        if words.contains(text) || text.hasSuffix("fit-in") || text.hasPrefix("filters:") || text.hasPrefix("trim:") {
            return true
        }
        // A size or a crop: sides with an x between them.
        return text.contains("x") && text.allSatisfy { "0123456789x:-".contains($0) }
            || text.hasPrefix("origx") || text.hasSuffix("xorig")
    }
}

/// A filter of a path: its name and its arguments.
struct ThumborArguments {
    let name: Substring
    private let words: [Substring]
    private let text: String

    /// Reads a filter without its closing parenthesis, such as `quality(70`.
    /// - Throws: 400 without an opening one.
    init(_ text: Substring) throws(Problem) {
        guard let open = text.firstIndex(of: "("), open > text.startIndex, !text.hasSuffix(")") else {
            throw Problem(.badRequest, "The filter \(text) is malformed. Write NAME(ARGUMENT,ARGUMENT).")
        }
        name = text[..<open]
        let inside = text[text.index(after: open)...]
        words =
            inside.isEmpty
            ? []
            : inside.split(separator: ",", omittingEmptySubsequences: false).map { word in
                let start = word.drop { $0 == " " }
                return start.dropLast(start.reversed().prefix { $0 == " " }.count)
            }
        self.text = text + ")"
    }

    var count: Int { words.count }

    /// An argument; empty if it is missing.
    subscript(index: Int) -> Substring { words.indices.contains(index) ? words[index] : "" }

    /// - Throws: 400 for a number of arguments that the filter doesn't have.
    func check(_ counts: ClosedRange<Int>) throws(Problem) {
        guard counts.contains(words.count) else {
            let numbers = counts.count == 1 ? "\(counts.lowerBound)" : "\(counts.lowerBound) to \(counts.upperBound)"
            throw wrong("The number of its arguments has to be \(numbers).")
        }
    }

    /// Reads an argument that is a whole number, with a minus sign if the range has negative numbers.
    func number(at index: Int = 0, _ range: ClosedRange<Int>) throws(Problem) -> Int {
        guard let number = self[index].signedNumber, range.contains(number) else {
            throw wrong("Write a whole number from \(range.lowerBound) to \(range.upperBound).")
        }
        return number
    }

    /// Reads an argument that is a decimal, with a minus sign if the range has negative numbers.
    func decimal(at index: Int = 0, _ range: ClosedRange<Double>) throws(Problem) -> Double {
        guard let number = self[index].signedDecimal, range.contains(number) else {
            throw wrong("Write a number from \(range.lowerBound) to \(range.upperBound).")
        }
        return number
    }

    /// Reads an argument that is true or false; false if it is missing.
    func flag(at index: Int) throws(Problem) -> Bool {
        switch self[index] {
        case "": false
        case "1", "true", "True": true
        case "0", "false", "False": false
        default: throw wrong("Write true or false.")
        }
    }

    /// Makes the problem of a filter that is malformed or not supported.
    /// - Parameter advice: What to write instead, as sentences.
    func wrong(_ advice: String) -> Problem { Problem(.badRequest, "The filter \(text) is wrong. \(advice)") }
}
