import Testing

@testable import Pipeline

@Suite("Texts of strangers, as they are shown")
struct PrintableTextTests {
    @Test("Every control, separator of lines and invisible format character is a mark, and nothing that is seen")
    func marks() {
        // Joiners, which words need, and marks that are seen around digits.
        let kept: Set<UInt32> = [
            0x200C, 0x200D, 0x600, 0x601, 0x602, 0x603, 0x604, 0x605, 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD,
            0x110CD,
        ]
        var wrong: [UInt32] = []
        for value in UInt32(0)...0xE_FFFF {
            guard let scalar = Unicode.Scalar(value) else { continue }
            let isExpected =
                switch scalar.properties.generalCategory {
                case .control, .lineSeparator, .paragraphSeparator: true
                case .format: !kept.contains(value)
                default: false
                }
            // Reserved code points may become format characters.
            if scalar.properties.generalCategory != .unassigned, scalar.isInvisibleMark != isExpected {
                wrong.append(value)
            }
        }
        // Variation selectors above U+E0100 are not format characters, but invisible too.
        #expect(wrong.allSatisfy { 0xE0100...0xE01EF ~= $0 }, "\(wrong)")
    }

    @Test(
        "A name keeps everything, in percent where it would change what is around it",
        arguments: [
            ("a\u{202E}gpj.exe", "a%E2%80%AEgpj.exe"), ("a\u{2028}b", "a%E2%80%A8b"), ("\u{1B}[31m", "%1B[31m"),
            ("\u{2066}x\u{2069}", "%E2%81%A6x%E2%81%A9"), ("\u{9B}2J", "%C2%9B2J"), ("\u{FEFF}a", "%EF%BB%BFa"),
            ("👩‍👩‍👧 ❤️ می‌خواهم", "👩‍👩‍👧 ❤️ می‌خواهم"), ("Grüße, 写真", "Grüße, 写真"),
        ])
    func names(text: String, shown: String) {
        #expect(printable(text) == shown)
        #expect(ImageSource.file(text).redacted == shown)
    }

    @Test("Prose loses its marks, and what is beyond the limit")
    func prose() {
        #expect(plainText("a\u{202E}b\u{1B}]0;c\u{7}\n👩‍👧") == "ab]0;c👩‍👧")
        #expect(plainText("a\nb\u{2028}c", filler: " ") == "a b c")
        #expect(plainText(String(repeating: "x", count: 5000)).count == 1000)
        #expect(plainText("abc", limit: 2) == "ab")
    }

    @Test("No error's text has a mark, wherever it is from, but lines stay lines")
    func errors() {
        let error = LoadError(.undecodable, subject: "a\u{1B}[2Jb", "c\u{1B}]0;owned\u{7}\n  d\u{202E}")
        #expect("\(error)" == "a%1B[2Jb: c%1B]0;owned%07\n  d%E2%80%AE")
        #expect(LoadError(.undecodable, subject: "", "c").about("\u{2066}").subject == "%E2%81%A6")
    }
}
