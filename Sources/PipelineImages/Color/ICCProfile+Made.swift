extension ICCProfile {
    /// sRGB (IEC 61966-2-1).
    static let sRGB = made(
        "sRGB", [[0.43607, 0.22249, 0.01392], [0.38515, 0.71687, 0.09708], [0.14307, 0.06061, 0.71410]])
    /// Display P3: the primaries of SMPTE EG 432-1, with sRGB's white and curve.
    static let displayP3 = made(
        "Display P3", [[0.51512, 0.24120, -0.00105], [0.29198, 0.69225, 0.04189], [0.15710, 0.06657, 0.78407]])
    /// The primaries of ITU-R BT.2020 with sRGB's curve.
    static let bt2020 = made(
        "BT.2020, sRGB", [[0.67348, 0.27904, -0.00194], [0.16568, 0.67535, 0.02998], [0.12508, 0.04561, 0.79686]])
    /// Adobe RGB (1998), with a power of 2.2 as 563/256.
    static let adobeRGB = made(
        "Adobe RGB", [[0.60974, 0.31111, 0.01947], [0.20528, 0.62567, 0.06087], [0.14919, 0.06322, 0.74457]],
        power: 563.0 / 256)

    /// A profile of some 500 bytes (ICC.1:2010).
    /// - Parameters:
    ///   - primaries: Red, green and blue in XYZ, adapted to the profile's white.
    ///   - power: The curve; `nil` for that of sRGB.
    private static func made(_ name: String, _ primaries: [[Double]], power: Double? = nil) -> [UInt8] {
        let form = power == nil ? 3 : 0
        let curve =
            ascii("para") + number(0) + [0, UInt8(form), 0, 0]
            + (power.map { [$0] } ?? [2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045]).flatMap(fixed)
        func xyz(_ values: [Double]) -> [UInt8] { ascii("XYZ ") + number(0) + values.flatMap(fixed) }
        // Bradford's adaptation from daylight (D65) to the profile's white (D50).
        let adaptation = [1.04788, 0.02292, -0.05022, 0.02959, 0.99048, -0.01707, -0.00925, 0.01508, 0.75168]
        let tags: [(names: [String], value: [UInt8])] = [
            (["desc"], text(name)),
            (["cprt"], text("CC0")),
            (["wtpt"], xyz(whiteD50)),
            (["chad"], ascii("sf32") + number(0) + adaptation.flatMap(fixed)),
            (["rXYZ"], xyz(primaries[0])),
            (["gXYZ"], xyz(primaries[1])),
            (["bXYZ"], xyz(primaries[2])),
            (["rTRC", "gTRC", "bTRC"], curve),
        ]
        let count = tags.reduce(0) { $0 + $1.names.count }
        var table = number(count)
        var values: [UInt8] = []
        let start = 128 + 4 + 12 * count
        for tag in tags {
            for name in tag.names { table += ascii(name) + number(start + values.count) + number(tag.value.count) }
            values += tag.value + [UInt8](repeating: 0, count: (4 - tag.value.count % 4) % 4)
        }
        let body = table + values
        return header(size: 128 + body.count) + body
    }

    private static let whiteD50 = [0.96420, 1.0, 0.82491]

    /// The header (section 7.2) of a version 4.3 display profile with a D50 illuminant, dated as the standard is.
    private static func header(size: Int) -> [UInt8] {
        let date: [UInt8] = [7, 218, 0, 12, 0, 1, 0, 0, 0, 0, 0, 0]
        let identity = number(size) + number(0) + [4, 0x30, 0, 0] + ascii("mntrRGB XYZ ") + date + ascii("acsp")
        let rest = [UInt8](repeating: 0, count: 28) + whiteD50.flatMap(fixed)
        return identity + rest + [UInt8](repeating: 0, count: 48)
    }

    /// Section 10.13: one text, in American English.
    private static func text(_ text: String) -> [UInt8] {
        let letters = text.utf16.flatMap { [UInt8($0 >> 8), UInt8(truncatingIfNeeded: $0)] }
        return ascii("mluc") + number(0) + number(1) + number(12) + ascii("enUS") + number(letters.count) + number(28)
            + letters
    }

    private static func ascii(_ text: String) -> [UInt8] { Array(text.utf8) }

    private static func number(_ value: Int) -> [UInt8] {
        value.bigEndian(4)
    }

    /// A fixed-point number with 16 fractional bits.
    private static func fixed(_ value: Double) -> [UInt8] { number(Int((value * 65536).rounded())) }
}
