extension StageParameter {
    /// What the value of a ``StageParameter`` has to be, and how it is written.
    public struct Kind: Sendable {
        let description: String
        let example: String
        let words: [String]
        let text: @Sendable (Value) -> String
        package let read: @Sendable (String) -> Value?

        /// - Parameters:
        ///   - description: What a value has to be, in words: `a whole number from 1 to 100`.
        ///   - words: The words by which a value without a name is recognized.
        package init(
            _ description: String, example: String = "", words: [String] = [],
            text: @escaping @Sendable (Value) -> String = { "\($0)" }, read: @escaping @Sendable (String) -> Value?
        ) {
            self.description = description
            self.example = example
            self.words = words
            self.text = text
            self.read = read
        }

        /// One of these values.
        /// - Parameters:
        ///   - values: The values.
        ///   - word: The word for a value; by default the name of an enumeration's case.
        public static func choice(
            _ values: [Value], word: @escaping @Sendable (Value) -> String = { "\($0)" }
        ) -> Self {
            let words = values.map(word)
            return Self(words.joined(separator: ", "), words: words, text: word) { text in
                values.first { word($0) == text }
            }
        }
    }
}

extension StageParameter.Kind where Value == Int {
    /// A whole number in a range.
    public static func integer(_ range: ClosedRange<Int>) -> Self {
        Self("a whole number from \(range.lowerBound) to \(range.upperBound)", example: "\(range.lowerBound)") {
            Int($0).flatMap { range.contains($0) ? $0 : nil }
        }
    }

    /// A number of bytes.
    package static var bytes: Self { .integer(1...1_000_000_000_000) }
}

extension StageParameter.Kind where Value == Double {
    /// A number in a range.
    public static func number(_ range: ClosedRange<Double>) -> Self {
        Self("a number from \(short(range))", example: short(range.upperBound), text: short) { parsed($0, in: range) }
    }
}

extension StageParameter.Kind where Value == Duration {
    /// A time in seconds, such as `0.5`.
    public static func seconds(_ range: ClosedRange<Double>) -> Self {
        Self("seconds from \(short(range))", example: short(range.upperBound), text: { short($0.seconds) }) {
            parsed($0, in: range).map { .seconds($0) }
        }
    }
}

extension StageParameter.Kind where Value == Bool {
    /// `true` or `false`.
    public static var flag: Self { Self("true or false", example: "true") { Bool($0) } }
}

extension StageParameter.Kind where Value == String {
    /// Any text, such as a path.
    public static var text: Self { Self("a text", example: "text") { $0 } }
}

private func parsed(_ text: String, in range: ClosedRange<Double>) -> Double? {
    Double(text).flatMap { range.contains($0) ? $0 : nil }
}

private func short(_ range: ClosedRange<Double>) -> String {
    "\(short(range.lowerBound)) to \(short(range.upperBound))"
}

private func short(_ number: Double) -> String {
    number == number.rounded() && abs(number) < 1e15 ? "\(Int(number))" : "\(number)"
}
