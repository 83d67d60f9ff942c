import LibC

/// An ICC profile (ICC.1:2010), parsed far enough to recognize sRGB and to convert simple profiles.
///
/// Most photographs carry sRGB itself as a profile, and preparing a conversion that changes nothing takes 4 ms.
struct ICCProfile {
    let bytes: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) { self.bytes = bytes[...] }

    /// Whether converting to sRGB would change no channel of any colour by more than about one level.
    var isSRGB: Bool {
        // A profile with tables may do anything.
        guard space == "RGB ", text(at: 20) == "XYZ ", tag("A2B0") == nil else { return false }
        let primaries = ["rXYZ", "gXYZ", "bXYZ"].map(xyz)
        for (primary, expected) in zip(primaries, Self.primaries) {
            guard let primary, zip(primary, expected).allSatisfy({ abs($0 - $1) < 0.002 }) else { return false }
        }
        return ["rTRC", "gTRC", "bTRC"].allSatisfy { name in
            guard let curve = tag(name) else { return false }
            return stride(from: 8, to: 256, by: 16).allSatisfy { level in
                let value = Double(level) / 255
                guard let light = Self.light(value, curve) else { return false }
                return abs(Self.encoded(light) - value) < 0.004
            }
        }
    }

    /// sRGB's red, green and blue, adapted to D50 (IEC 61966-2-1).
    private static let primaries = [
        [0.4360, 0.2225, 0.0139], [0.3851, 0.7169, 0.0971], [0.1431, 0.0606, 0.7141],
    ]

    /// sRGB's own transfer function, from linear light.
    static func encoded(_ light: Double) -> Double {
        light <= 0.003_130_8 ? light * 12.92 : 1.055 * pow(light, 1 / 2.4) - 0.055
    }

    /// Applies a curve to a value. A curve is a table, a power, or a formula (sections 10.5 and 10.15).
    static func light(_ value: Double, _ curve: ArraySlice<UInt8>) -> Double? {
        switch curve.slice(at: 0, count: 4).map({ String(decoding: $0, as: UTF8.self) }) {
        case "curv":
            guard let count = curve.number(at: 8, bytes: 4) else { return nil }
            if count == 0 { return value }
            if count == 1 { return curve.number(at: 12, bytes: 2).map { pow(value, Double($0) / 256) } }
            let position = value * Double(count - 1)
            guard let low = curve.number(at: 12 + 2 * Int(position), bytes: 2) else { return nil }
            let high = curve.number(at: 14 + 2 * Int(position), bytes: 2) ?? low
            return (Double(low) + Double(high - low) * (position - position.rounded(.down))) / 65535
        case "para":
            // A power; from type 3 on, as for sRGB, with a line below a limit (ICC.1:2022, section 10.18).
            let counts = [1, 3, 4, 5, 7]
            guard let type = curve.number(at: 8, bytes: 2), type < counts.count else { return nil }
            let numbers = (0..<counts[type]).compactMap { fixed(curve, at: 12 + 4 * $0) }
            guard numbers.count == counts[type] else { return nil }
            if type == 0 { return pow(value, numbers[0]) }
            let base = numbers[1] * value + numbers[2]
            switch type {
            case 3: return value >= numbers[4] ? pow(base, numbers[0]) : numbers[3] * value
            case 4:
                return value >= numbers[4]
                    ? pow(base, numbers[0]) + numbers[5] : numbers[3] * value + numbers[6]
            default: return pow(max(0, base), numbers[0]) + (type == 2 ? numbers[3] : 0)
            }
        default: return nil
        }
    }

    func xyz(_ name: String) -> [Double]? {
        guard let tag = tag(name) else { return nil }
        let numbers = (0..<3).compactMap { Self.fixed(tag, at: 8 + 4 * $0) }
        return numbers.count == 3 ? numbers : nil
    }

    /// A fixed-point number with 16 fractional bits.
    private static func fixed(_ bytes: ArraySlice<UInt8>, at offset: Int) -> Double? {
        bytes.number(at: offset, bytes: 4).map { Double(Int32(truncatingIfNeeded: $0)) / 65536 }
    }

    func text(at offset: Int) -> String? {
        bytes.slice(at: offset, count: 4).map { String(decoding: $0, as: UTF8.self) }
    }

    func tag(_ name: String) -> ArraySlice<UInt8>? {
        for index in 0..<min(100, bytes.number(at: 128, bytes: 4) ?? 0) {
            let entry = 132 + 12 * index
            guard text(at: entry) == name else { continue }
            guard let offset = bytes.number(at: entry + 4, bytes: 4), let size = bytes.number(at: entry + 8, bytes: 4)
            else { return nil }
            return bytes.slice(at: offset, count: size)
        }
        return nil
    }
}
