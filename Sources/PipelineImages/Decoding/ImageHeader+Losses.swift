extension ImageHeader {
    /// What a picture made of the file lacks, as sentences: parts of a drawing, and a manifest of provenance. `nil` if
    /// nothing is known to be missing.
    package var losses: String? {
        let sentences = [characterLosses, pictureLosses, provenanceLoss].compactMap(\.self)
        return sentences.isEmpty ? nil : sentences.joined(separator: " ")
    }

    private var characterLosses: String? {
        guard missingCharacters > 0 else { return nil }
        let one = "U+" + String(missingCharacter, radix: 16, uppercase: true)
        return missingCharacters == 1
            ? "The fonts lack a character of the text, \(one); it is drawn as a box."
            : "The fonts lack \(missingCharacters) characters of the text, such as \(one); they are drawn as boxes."
    }

    private var pictureLosses: String? {
        guard missingPictures > 0 else { return nil }
        let count = missingPictures == 1 ? "A picture" : "\(missingPictures) pictures"
        return "\(count) in the drawing can't be read and \(missingPictures == 1 ? "is" : "are") left out."
    }

    private var provenanceLoss: String? {
        hasProvenance
            ? "The manifest of provenance (C2PA) isn't kept: it is signed for the bytes of the source, and not for a new picture."
            : nil
    }
}
