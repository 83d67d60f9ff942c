extension EXIFBlock {
    /// The headroom of a phone's HDR picture in stops, by the tags 33 and 48 of Apple's maker note; `nil` without them.
    ///
    /// The formula is the one that Apple publishes in "Applying Apple HDR effect to your photos". A note of which one tag is
    /// missing counts it as 0.
    var appleHeadroom: Double? {
        let note = data(Tag.makerNote, in: exposureEntries)[...]
        // The note is a directory of its own, always big-endian. Offsets count from its start.
        guard note.starts(with: "Apple iOS\0".utf8), let count = note.number(at: 14, bytes: 2) else { return nil }
        func value(_ tag: Int) -> Double? {
            for entry in (0..<min(count, 256)).map({ 16 + 12 * $0 }) {
                guard note.number(at: entry, bytes: 2) == tag, note.number(at: entry + 2, bytes: 2) == 10,
                    let offset = note.number(at: entry + 8, bytes: 4), let above = note.number(at: offset, bytes: 4),
                    let below = note.number(at: offset + 4, bytes: 4), below > 0
                else { continue }
                return Double(Int32(truncatingIfNeeded: above)) / Double(below)
            }
            return nil
        }
        let (first, second) = (value(33), value(48))
        guard first != nil || second != nil else { return nil }
        let (bright, dark) = ((first ?? 0) >= 1, second ?? 0)
        let stops =
            dark <= 0.01
            ? (bright ? 3.0 - 70 * dark : 1.8 - 20 * dark) : (bright ? 2.303 - 0.303 * dark : 1.601 - 0.101 * dark)
        return stops > 0 ? stops : nil
    }
}
