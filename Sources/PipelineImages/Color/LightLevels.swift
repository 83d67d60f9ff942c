import Pipeline

/// The light that the levels of a colour space stand for, and the levels of light. The light of SDR's white is 1.
struct LightLevels {
    /// The light of each level, which grows.
    private let light: [Double]
    /// From the primaries of sRGB to those of the space.
    private let fromSRGB: Matrix3

    /// Unknown primaries and curves count as sRGB's, as browsers take them.
    /// - Parameter isDeep: Whether levels have 16 bits rather than 8.
    init(_ space: PixelLayout.ColorSpace, isDeep: Bool) {
        let curve = TransferCurve(Int(space.rawValue & 255)) ?? .sRGB
        let last = isDeep ? 65535 : 255
        light = (0...last).map { curve.lightOverWhite(Double($0) / Double(last)) }
        fromSRGB = ColorPrimaries.sRGB.matrix(to: space.primaries ?? .sRGB)
    }

    /// The light of a level.
    subscript(_ level: Int) -> Double { light[level] }

    /// The level whose light is closest.
    func level(_ wanted: Double) -> Int {
        var (low, high) = (0, light.count - 1)
        while low < high {
            let middle = (low + high) / 2
            if light[middle] < wanted { low = middle + 1 } else { high = middle }
        }
        return low > 0 && wanted - light[low - 1] < light[low] - wanted ? low - 1 : low
    }

    /// The light of a colour of sRGB in the primaries of the space, from its levels of 8 bits.
    func light(ofSRGB color: SIMD3<UInt8>) -> SIMD3<Double> {
        fromSRGB * SIMD3(Self.sRGB[Int(color.x)], Self.sRGB[Int(color.y)], Self.sRGB[Int(color.z)])
    }

    private static let sRGB = (0...255).map { TransferCurve.sRGB.light(Double($0) / 255) }
}

extension Color {
    /// The colour with the numbers that it has in another space, as far as 8 bits tell them. In HDR, white is that of SDR.
    func converted(to space: PixelLayout.ColorSpace) -> Color {
        guard space != .sRGB, alpha > 0 else { return self }
        let levels = LightLevels(space, isDeep: false)
        let light = levels.light(ofSRGB: SIMD3(red, green, blue))
        return Color(
            red: UInt8(levels.level(light.x)), green: UInt8(levels.level(light.y)),
            blue: UInt8(levels.level(light.z)), alpha: alpha)
    }
}
