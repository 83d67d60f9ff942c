import Pipeline

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
