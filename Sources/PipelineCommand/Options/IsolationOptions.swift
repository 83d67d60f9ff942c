import ArgumentParser

/// The option for decoding in confined processes, shared by all verbs that decode.
struct IsolationOptions: ParsableArguments {
    @Flag(
        inversion: .prefixedNo, exclusivity: .chooseLast,
        help:
            "Decode in confined processes. With --no-isolate, in this one. By default batch isolates, and every verb SVG and JPEG XL."
    )
    var isolate: Bool?

    /// What a verb's words say.
    static func choice(in words: some Collection<String>) -> Bool? {
        words.reversed().first { $0 == "--isolate" || $0 == "--no-isolate" }.map { $0 == "--isolate" }
    }
}
