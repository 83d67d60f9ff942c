#if SVG
import CSVG
import LibC

/// The fonts that text in SVGs is drawn with: DejaVu Sans, Sans Mono and Serif, regular and bold, of Debian's package
/// `fonts-dejavu-core`. They are the same ones on every machine, whatever other fonts it has, and an SVG can't bring its
/// own.
///
/// They are opened before the process is confined, and stay in memory.
package enum SVGFonts {
    /// Why text can't be drawn; `nil` if it can. The first use opens librsvg and the fonts.
    static let failure: String? = {
        var failure = csvg_failure()
        let folder = folders.first { folder in fonts.allSatisfy { access("\(folder)/\($0.file)", R_OK) == 0 } }
        let strings = fonts.map { (strdup("\(folder ?? "")/\($0.file)"), strdup($0.name)) }
        defer {
            for (path, name) in strings {
                free(path)
                free(name)
            }
        }
        let set = strings.compactMap { path, name -> csvg_font? in
            guard folder != nil, let path, let name else { return nil }
            return csvg_font(path: path, name: name)
        }
        // Even without fonts, so that a worker looks for none.
        let done = csvg_load_fonts(configuration, set, set.count, &failure)
        guard folder != nil else { return "The fonts are missing; install fonts-dejavu-core." }
        guard !done else { return nil }
        return withUnsafeBytes(of: failure.message) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }()

    /// Whether one of them has failed. If an SVG wants a font too large, cairo refuses it in every size from then on, also
    /// in other SVGs of the process.
    package static var areSpent: Bool { csvg_fonts_are_spent() }

    /// The characters that are drawn as boxes. Spaces and marks without a glyph of their own, such as the soft hyphen,
    /// aren't.
    static func missing(_ characters: Set<Unicode.Scalar>) -> [Unicode.Scalar] {
        characters.filter { character in
            let properties = character.properties
            return !properties.isDefaultIgnorableCodePoint && !properties.isWhitespace
                && properties.generalCategory != .control && !csvg_has_glyph(character.value)
        }.sorted()
    }

    /// Where systems have them: Debian and its kin, Arch and Alpine, Fedora's links.
    private static let folders = [
        "/usr/share/fonts/truetype/dejavu", "/usr/share/fonts/TTF", "/usr/share/fonts/dejavu",
    ]

    private static let fonts = [
        (file: "DejaVuSans.ttf", name: "DejaVu Sans"), (file: "DejaVuSans-Bold.ttf", name: "DejaVu Sans Bold"),
        (file: "DejaVuSansMono.ttf", name: "DejaVu Sans Mono"),
        (file: "DejaVuSansMono-Bold.ttf", name: "DejaVu Sans Mono Bold"),
        (file: "DejaVuSerif.ttf", name: "DejaVu Serif"), (file: "DejaVuSerif-Bold.ttf", name: "DejaVu Serif Bold"),
    ]

    /// Which font stands for which, as fontconfig's own configuration has it: families of the same kind by name, others
    /// by the generic family that follows, or else Sans. The fonts have no italics, so that these are slanted.
    private static let configuration = """
        <fontconfig>
          <alias><family>Times</family><default><family>serif</family></default></alias>
          <alias><family>Times New Roman</family><default><family>serif</family></default></alias>
          <alias><family>Georgia</family><default><family>serif</family></default></alias>
          <alias><family>Liberation Serif</family><default><family>serif</family></default></alias>
          <alias><family>Courier</family><default><family>monospace</family></default></alias>
          <alias><family>Courier New</family><default><family>monospace</family></default></alias>
          <alias><family>Consolas</family><default><family>monospace</family></default></alias>
          <alias><family>Menlo</family><default><family>monospace</family></default></alias>
          <alias><family>Liberation Mono</family><default><family>monospace</family></default></alias>
          <match><test qual="all" name="family" compare="not_eq"><string>sans-serif</string></test>
            <test qual="all" name="family" compare="not_eq"><string>serif</string></test>
            <test qual="all" name="family" compare="not_eq"><string>monospace</string></test>
            <edit name="family" mode="append_last"><string>sans-serif</string></edit></match>
          <alias><family>sans-serif</family><prefer><family>DejaVu Sans</family></prefer></alias>
          <alias><family>serif</family><prefer><family>DejaVu Serif</family></prefer></alias>
          <alias><family>monospace</family><prefer><family>DejaVu Sans Mono</family></prefer></alias>
          <match target="font"><test name="slant"><const>roman</const></test>
            <test target="pattern" name="slant" compare="not_eq"><const>roman</const></test>
            <edit name="matrix" mode="assign"><times><name>matrix</name>
              <matrix><double>1</double><double>0.2</double><double>0</double><double>1</double></matrix></times></edit>
            <edit name="slant" mode="assign"><const>oblique</const></edit>
            <edit name="embeddedbitmap" mode="assign"><bool>false</bool></edit></match>
        </fontconfig>
        """
}
#endif
