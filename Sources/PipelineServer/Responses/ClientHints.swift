import HTTPTypes

/// What a client says of its screen and its network, each in its current name and in the older one.
///
/// Of this module's dialects only ``ThumbDialect`` uses them: the two others are meant to give every client the same picture. What a client says
/// is rounded up to the steps of a ladder, since each step makes another result.
public struct ClientHints: Sendable, Hashable {
    /// The number of the screen's pixels for each CSS pixel: one of ``pixelRatios``.
    public let pixelRatio: Double
    /// The width of the picture's place on the page, in the screen's pixels: one of ``widths``; `nil` if the client
    /// doesn't say it.
    public let width: Int?
    /// Whether the user pays for bytes.
    public let savesData: Bool

    /// The steps of the pixel ratio. Who saves data gets the first.
    public static let pixelRatios = [1, 1.5, 2, 3, 4]
    /// The steps of the width. Who saves data gets one of the first three.
    public static let widths = [320, 640, 960, 1280, 1600, 1920, 2560, 3840]

    /// Rounds what a client says up to the steps of the ladders; by default it says nothing.
    public init(pixelRatio: Double? = nil, width: Int? = nil, savesData: Bool = false) {
        func step<Value: Comparable>(_ value: Value, of ladder: ArraySlice<Value>) -> Value? {
            ladder.first { $0 >= value } ?? ladder.last
        }
        self.savesData = savesData
        self.pixelRatio =
            pixelRatio.flatMap { step($0, of: savesData ? Self.pixelRatios[..<1] : Self.pixelRatios[...]) } ?? 1
        self.width = width.flatMap { step($0, of: savesData ? Self.widths[..<3] : Self.widths[...]) }
    }

    init(_ fields: HTTPFields) {
        self.init(
            pixelRatio: (fields[.pixelRatio] ?? fields[.oldPixelRatio])?.plainDecimal,
            width: (fields[.width] ?? fields[.oldWidth])?.plainNumber,
            savesData: fields[.saveData]?.lowercased() == "on")
    }

    /// The fields for `Vary`.
    static let names = "Sec-CH-DPR, DPR, Sec-CH-Width, Width, Save-Data"
    /// The hints that a page asks its browser for, for `Accept-CH`.
    public static let wanted = "Sec-CH-DPR, Sec-CH-Width, Save-Data"
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
