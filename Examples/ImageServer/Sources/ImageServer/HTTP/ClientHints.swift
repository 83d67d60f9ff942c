import HTTPTypes

/// What a client says of its screen and its network, each in its current name and in the older one.
///
/// Only the dialect `/thumb/` uses them: the two others are meant to give every client the same picture.
struct ClientHints: Sendable, Hashable {
    /// The number of the screen's pixels for each CSS pixel, from 1 to 4.
    var pixelRatio = 1.0
    /// The width of the picture's place on the page, in the screen's pixels.
    var width: Int?
    /// Whether the user pays for bytes.
    var savesData = false

    init() {}

    init(_ fields: HTTPFields) {
        if let ratio = (fields[.pixelRatio] ?? fields[.oldPixelRatio])?.plainDecimal {
            pixelRatio = min(4, max(1, ratio))
        }
        width = (fields[.width] ?? fields[.oldWidth])?.plainNumber
        savesData = fields[.saveData]?.lowercased() == "on"
    }

    /// The fields for `Vary`.
    static let names = "Sec-CH-DPR, DPR, Sec-CH-Width, Width, Save-Data"
    /// The hints that a page asks its browser for, for `Accept-CH`.
    static let wanted = "Sec-CH-DPR, Sec-CH-Width, Save-Data"
}

extension HTTPField.Name {
    static let saveData = name("Save-Data")
    fileprivate static let pixelRatio = name("Sec-CH-DPR")
    fileprivate static let oldPixelRatio = name("DPR")
    fileprivate static let width = name("Sec-CH-Width")
    fileprivate static let oldWidth = name("Width")

    /// Makes the name of a field that HTTPTypes doesn't have. Only for literals, which are valid names.
    static func name(_ text: String) -> HTTPField.Name { HTTPField.Name(text) ?? .via }
}
