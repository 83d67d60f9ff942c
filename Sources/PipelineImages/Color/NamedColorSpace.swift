import LibC

/// A colour space that programs for photographs know by name.
package enum NamedColorSpace: String, Sendable, Hashable, CaseIterable {
    case sRGB
    case displayP3 = "Display P3"
    case adobeRGB = "Adobe RGB"
    case proPhotoRGB = "ProPhoto RGB"
    case bt2020 = "BT.2020"

    /// Red, green and blue in XYZ, adapted to D50 as profiles have them.
    fileprivate var colorants: [[Double]] {
        switch self {
        case .sRGB: [[0.4360, 0.2225, 0.0139], [0.3851, 0.7169, 0.0971], [0.1431, 0.0606, 0.7141]]
        case .displayP3: [[0.5151, 0.2412, -0.0011], [0.2920, 0.6922, 0.0419], [0.1571, 0.0666, 0.7841]]
        case .adobeRGB: [[0.6097, 0.3111, 0.0195], [0.2053, 0.6257, 0.0609], [0.1492, 0.0632, 0.7446]]
        case .proPhotoRGB: [[0.7977, 0.2880, 0], [0.1352, 0.7119, 0], [0.0313, 0.0001, 0.8249]]
        case .bt2020: [[0.6735, 0.2790, -0.0019], [0.1657, 0.6753, 0.0300], [0.1251, 0.0456, 0.7969]]
        }
    }
}

extension ICCProfile {
    /// The colour space whose primaries the profile has, whatever its name and its curves are; `nil` for others.
    var namedSpace: NamedColorSpace? {
        guard space == "RGB " else { return nil }
        let colorants = ["rXYZ", "gXYZ", "bXYZ"].compactMap(xyz)
        guard colorants.count == 3 else { return nil }
        return NamedColorSpace.allCases.first { space in
            zip(space.colorants, colorants).allSatisfy { zip($0, $1).allSatisfy { abs($0 - $1) < 0.003 } }
        }
    }

    /// The colours that the profile's tag `cicp` states (ICC.1:2022 section 9.2.17).
    var codedColors: CodedColors? {
        guard let tag = tag("cicp"), let primaries = tag.number(at: 8, bytes: 1),
            let transfer = tag.number(at: 9, bytes: 1), let matrix = tag.number(at: 10, bytes: 1),
            let range = tag.number(at: 11, bytes: 1)
        else { return nil }
        return CodedColors(primaries: primaries, transfer: transfer, matrix: matrix, isFullRange: range != 0)
    }

    /// The name of the transfer function, such as `sRGB` or `gamma 2.2`; `table` for a curve without a name, `nil` for a
    /// profile without curves.
    var transferName: String? {
        if let codedColors, let curve = TransferCurve(codedColors.transfer) { return curve.name }
        guard let curve = tag("rTRC") ?? tag("kTRC") else { return nil }
        let levels = stride(from: 0.1, through: 0.9, by: 0.1)
        let light = levels.map { Self.light($0, curve) }
        func isLike(_ expected: (Double) -> Double) -> Bool {
            zip(levels, light).allSatisfy { level, light in light.map { abs($0 - expected(level)) < 0.002 } ?? false }
        }
        if isLike({ $0 }) { return "linear" }
        if isLike(TransferCurve.sRGB.light) { return "sRGB" }
        guard let middle = Self.light(0.5, curve), middle > 0, middle < 1 else { return "table" }
        // The power that the middle has, if the whole curve has it.
        let power = log(middle) / log(0.5)
        return isLike({ pow($0, power) }) ? "gamma \((power * 10).rounded() / 10)" : "table"
    }
}
