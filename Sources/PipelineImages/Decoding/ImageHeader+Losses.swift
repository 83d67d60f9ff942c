extension ImageHeader {
    /// What of a drawing isn't drawn, as sentences; `nil` if nothing is known to be missing.
    package var losses: String? {
        guard missingCharacters > 0 else { return nil }
        let one = "U+" + String(missingCharacter, radix: 16, uppercase: true)
        return missingCharacters == 1
            ? "The fonts lack a character of the text, \(one); it is drawn as a box."
            : "The fonts lack \(missingCharacters) characters of the text, such as \(one); they are drawn as boxes."
    }
}
