import LibC

/// How samples stand for light (ITU-T H.273 table 3).
enum TransferCurve: Equatable {
    /// sRGB, and BT.709 with its relatives. Their numbers describe cameras. Browsers show them by sRGB's curve, since
    /// displays differ little from it.
    case sRGB
    case linear
    /// A power.
    case gamma(Double)
    /// SMPTE ST 2084: absolute light up to 10,000 cd/m².
    case pq
    /// Hybrid log-gamma (ITU-R BT.2100): light of a scene.
    case hlg

    /// Returns `nil` for unspecified, reserved and rare numbers.
    init?(_ number: Int) {
        switch number {
        case 1, 6, 13, 14, 15: self = .sRGB
        case 4: self = .gamma(2.2)
        case 5: self = .gamma(2.8)
        case 8: self = .linear
        case 16: self = .pq
        case 18: self = .hlg
        default: return nil
        }
    }

    /// The name, such as `PQ`.
    var name: String {
        switch self {
        case .sRGB: "sRGB"
        case .linear: "linear"
        case .gamma(let power): "gamma \(power)"
        case .pq: "PQ"
        case .hlg: "HLG"
        }
    }

    /// Whether light is brighter than sRGB can show, so that tones have to be mapped.
    var isHighRange: Bool { self == .pq || self == .hlg }

    /// The light of a value from 0 to 1: relative to white; for PQ relative to 1000 cd/m², clipped there; for HLG the
    /// scene's light.
    func light(_ value: Double) -> Double {
        switch self {
        case .sRGB: return value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
        case .linear: return value
        case .gamma(let power): return pow(value, power)
        case .pq:
            return min(1, Self.pqLight(value) * 10_000 / ToneMapping.peak)
        case .hlg:
            // BT.2100 table 5.
            let (a, b, c) = (0.17883277, 0.28466892, 0.55991073)
            return value <= 0.5 ? value * value / 3 : (exp((value - c) / a) + b) / 12
        }
    }

    /// The light of a value from 0 to 1, with SDR's white as 1, which HDR shows at 203 cd/m² (ITU-R BT.2408); for HLG the
    /// scene's light.
    func lightOverWhite(_ value: Double) -> Double {
        switch self {
        case .pq: Self.pqLight(value) * 10_000 / GainMapApplication.white
        case .hlg: light(value) / light(0.75)
        case .sRGB, .linear, .gamma: light(value)
        }
    }

    /// The light of a value from 0 to 1, as a share of 10,000 cd/m² (ITU-R BT.2100 table 4).
    static func pqLight(_ value: Double) -> Double {
        let root = pow(value, 1 / 78.84375)
        return pow(max(0, root - 0.8359375) / (18.8515625 - 18.6875 * root), 1 / 0.1593017578125)
    }

    /// The value of light, the inverse.
    static func pqLevel(_ light: Double) -> Double {
        let root = pow(light, 0.1593017578125)
        return pow((0.8359375 + 18.8515625 * root) / (1 + 18.6875 * root), 78.84375)
    }
}
