import Pipeline

/// Formats and reads numbers of bytes for people.
enum ByteCount {
    /// Such as `812 B`, `23.4 KB` or `1.2 GB`, in powers of 1000.
    static func text(_ bytes: Int) -> String {
        var value = Double(bytes.magnitude)
        for unit in ["B", "KB", "MB", "GB"] {
            if value < 999.95 || unit == "GB" {
                let number = unit == "B" ? "\(Int(value))" : OneDecimal.text(value)
                return (bytes < 0 ? "-" : "") + "\(number) \(unit)"
            }
            value /= 1000
        }
        return ""
    }

    /// Reads `500`, `64K`, `2G` or `1.5M`, in powers of 1000, or of 1024 with an `i` (`2Gi`); `nil` for anything else.
    static func bytes(_ text: String) -> Int? {
        var number = Substring(text.lowercased())
        if number.last == "b" { number.removeLast() }
        let isBinary = number.last == "i"
        if isBinary { number.removeLast() }
        let powers: [Character: Int] = ["k": 1, "m": 2, "g": 3, "t": 4]
        let power = number.last.flatMap { powers[$0] } ?? 0
        if power > 0 { number.removeLast() } else if isBinary { return nil }
        guard let value = Double(number), value >= 0 else { return nil }
        let bytes = (0..<power).reduce(value) { value, _ in value * (isBinary ? 1024 : 1000) }
        return bytes < 1e18 ? Int(bytes) : nil
    }
}

/// A number with one digit after the point.
enum OneDecimal {
    static func text(_ value: Double) -> String {
        let tenths = Int((value * 10).rounded())
        return "\(tenths / 10).\(abs(tenths % 10))"
    }
}

/// Translates the library's API terms into the command's options.
enum CommandWords {
    private static let phrases: [(library: String, command: String)] = [
        ("Raise the limit of source bytes.", "Raise it with --max-source-bytes."),
        ("Raise the limit of pixels.", "Raise it with --max-pixels."),
        ("Raise the limit of a side.", "Raise it with --max-side."),
        ("Raise the limit of time.", "Raise it with --max-time."),
        ("Raise the limit of memory, or ask for a smaller picture.", "Choose a smaller size with -s."),
        ("; resize one of them.", "; --scale compares them."),
        ("; maxBytes allows ", "; --max-bytes allows "),
        ("set a smaller maxPixelSize,", "choose a smaller size with -s,"),
        ("set maxPixelSize or", "choose a smaller size with -s or"),
        ("use offline to", "use --policy offline to"),
        ("returnCacheElseLoad to", "--policy returnCacheElseLoad to"),
    ]
    /// What follows names the address, in Swift.
    private static let addresses = "allow the host or network: "

    static func text(_ message: String) -> String {
        var text = message
        for (library, command) in phrases { text = text.replacing(library, with: command) }
        if let remedy = text.firstRange(of: addresses) {
            text = text[..<remedy.lowerBound] + "leave out --public-only."
        }
        return text
    }

    /// An error's text, without its stage.
    static func text(of error: any Error) -> String { (error as? LoadError)?.text(namesStage: false) ?? "\(error)" }
}

extension LoadError {
    /// The error in the command's words.
    /// - Parameter namesStage: Whether the stage that failed comes first.
    func text(namesStage: Bool) -> String { described(CommandWords.text(message), namesStage: namesStage) }
}
