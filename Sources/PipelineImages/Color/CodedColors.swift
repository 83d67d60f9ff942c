/// The colours of an image by the numbers of ITU-T H.273 ("CICP"), as PNG (chunk `cICP`), AVIF and HEIF (property `nclx`)
/// have them in place of an ICC profile.
public struct CodedColors: Sendable, Hashable {
    /// The colour primaries and the white (section 8.1): 1 is BT.709 and sRGB, 9 BT.2020, 12 Display P3; 2 means
    /// unspecified.
    public let primaries: Int
    /// The transfer characteristics (section 8.2): 13 is sRGB, 16 PQ, 18 HLG; 2 means unspecified.
    public let transfer: Int
    /// The matrix from luma and chroma to colours (section 8.3): 0 is RGB itself; 2 means unspecified.
    public let matrix: Int
    /// Whether samples use their full range; otherwise black is at 16/255, and white at 235/255.
    public let isFullRange: Bool

    /// Describes colours by their numbers, each from 0 to 255.
    public init(primaries: Int, transfer: Int, matrix: Int, isFullRange: Bool) {
        self.primaries = primaries
        self.transfer = transfer
        self.matrix = matrix
        self.isFullRange = isFullRange
    }

    /// The name of the primaries, such as `Display P3`; their number where it has none.
    package var primariesName: String { ColorPrimaries.named[primaries]?.name ?? "primaries \(primaries)" }

    /// The name of the transfer characteristics, such as `PQ`; their number where it has none.
    package var transferName: String { TransferCurve(transfer)?.name ?? "transfer \(transfer)" }

    /// Whether they say how to convert to sRGB. Unspecified, reserved and rare numbers don't.
    var isKnown: Bool { TransferCurve(transfer) != nil && ColorPrimaries.named[primaries] != nil }

    /// Whether decoding to sRGB changes pixels with these colours.
    var differsFromSRGB: Bool {
        isKnown && (primaries != 1 || TransferCurve(transfer) != .sRGB || !isFullRange)
    }

    /// The same colours of pixels whose matrix and range a library has applied. Of primaries and transfer, what is
    /// unspecified next to the other is taken to be sRGB's, as libavif and browsers do.
    var asFullRangeRGB: CodedColors {
        let (hasPrimaries, hasTransfer) = (primaries != 2, transfer != 2)
        return CodedColors(
            primaries: hasTransfer && !hasPrimaries ? 1 : primaries,
            transfer: hasPrimaries && !hasTransfer ? 13 : transfer, matrix: 0, isFullRange: true)
    }
}

extension CodedColors: CustomStringConvertible {
    /// Such as `Display P3, sRGB`.
    public var description: String { "\(primariesName), \(transferName)" }
}

/// The colours of red, green, blue and white, as chromaticities x and y of CIE 1931 (ITU-T H.273 table 2).
struct ColorPrimaries {
    let name: String
    /// Red, green, blue and white.
    private let places: [(x: Double, y: Double)]

    private init(_ name: String, _ places: [(x: Double, y: Double)]) {
        self.name = name
        self.places = places
    }

    private static let d65 = (x: 0.3127, y: 0.3290)
    private static let illuminantC = (x: 0.310, y: 0.316)

    /// Those of sRGB.
    static let sRGB = ColorPrimaries("BT.709", [(0.640, 0.330), (0.300, 0.600), (0.150, 0.060), d65])
    static let bt2020 = ColorPrimaries("BT.2020", [(0.708, 0.292), (0.170, 0.797), (0.131, 0.046), d65])
    /// H.273 has no number for them.
    static let adobeRGB = ColorPrimaries("Adobe RGB", [(0.640, 0.330), (0.210, 0.710), (0.150, 0.060), d65])

    /// The primaries that H.273 names, by their number.
    static let named: [Int: ColorPrimaries] = [
        1: sRGB,
        4: ColorPrimaries("BT.470 M", [(0.67, 0.33), (0.21, 0.71), (0.14, 0.08), illuminantC]),
        5: ColorPrimaries("BT.470 BG", [(0.64, 0.33), (0.29, 0.60), (0.15, 0.06), d65]),
        6: ColorPrimaries("SMPTE 170M", [(0.630, 0.340), (0.310, 0.595), (0.155, 0.070), d65]),
        7: ColorPrimaries("SMPTE 240M", [(0.630, 0.340), (0.310, 0.595), (0.155, 0.070), d65]),
        8: ColorPrimaries("film", [(0.681, 0.319), (0.243, 0.692), (0.145, 0.049), illuminantC]),
        9: bt2020,
        11: ColorPrimaries("DCI P3", [(0.680, 0.320), (0.265, 0.690), (0.150, 0.060), (0.314, 0.351)]),
        12: ColorPrimaries("Display P3", [(0.680, 0.320), (0.265, 0.690), (0.150, 0.060), d65]),
        22: ColorPrimaries("EBU 3213", [(0.630, 0.340), (0.295, 0.605), (0.155, 0.077), d65]),
    ]

    /// From linear colours to XYZ relative to D65. Another white is adapted by Bradford's matrix, as in ICC profiles.
    var toXYZ: Matrix3 {
        func xyz(_ place: (x: Double, y: Double)) -> SIMD3<Double> {
            SIMD3(place.x / place.y, 1, (1 - place.x - place.y) / place.y)
        }
        let columns = Matrix3(xyz(places[0]), xyz(places[1]), xyz(places[2]))
        let white = xyz(places[3])
        let gains = columns.inverse * white
        let adaptation = (Matrix3.bradford * xyz(Self.d65)) / (Matrix3.bradford * white)
        let adapted = Matrix3(diagonal: adaptation) * (Matrix3.bradford * (columns * Matrix3(diagonal: gains)))
        return Matrix3.bradford.inverse * adapted
    }

    /// From linear colours of some primaries to those of others; `nil` for unknown ones.
    static func matrix(from source: Int, to target: Int) -> Matrix3? {
        guard let source = named[source], let target = named[target] else { return nil }
        return source.matrix(to: target)
    }

    /// From linear colours of these primaries to those of others.
    func matrix(to target: ColorPrimaries) -> Matrix3 { target.toXYZ.inverse * toXYZ }
}

/// A 3×3 matrix by its columns.
struct Matrix3 {
    private let first, second, third: SIMD3<Double>

    static let bradford = Matrix3(
        SIMD3(0.8951, -0.7502, 0.0389), SIMD3(0.2664, 1.7135, -0.0685), SIMD3(-0.1614, 0.0367, 1.0296))

    init(_ first: SIMD3<Double>, _ second: SIMD3<Double>, _ third: SIMD3<Double>) {
        (self.first, self.second, self.third) = (first, second, third)
    }

    init(diagonal: SIMD3<Double>) {
        self.init(SIMD3(diagonal.x, 0, 0), SIMD3(0, diagonal.y, 0), SIMD3(0, 0, diagonal.z))
    }

    static func * (left: Matrix3, right: SIMD3<Double>) -> SIMD3<Double> {
        left.first * right.x + left.second * right.y + left.third * right.z
    }

    static func * (left: Matrix3, right: Matrix3) -> Matrix3 {
        Matrix3(left * right.first, left * right.second, left * right.third)
    }

    /// The inverse; the matrices here always have one.
    var inverse: Matrix3 {
        let rows = [Self.cross(second, third), Self.cross(third, first), Self.cross(first, second)]
        let determinant = (first * rows[0]).sum()
        return Matrix3(rows[0] / determinant, rows[1] / determinant, rows[2] / determinant).transposed
    }

    private static func cross(_ left: SIMD3<Double>, _ right: SIMD3<Double>) -> SIMD3<Double> {
        let products = SIMD3(left.y * right.z, left.z * right.x, left.x * right.y)
        return products - SIMD3(left.z * right.y, left.x * right.z, left.y * right.x)
    }

    private var transposed: Matrix3 {
        Matrix3(
            SIMD3(first.x, second.x, third.x), SIMD3(first.y, second.y, third.y), SIMD3(first.z, second.z, third.z))
    }

    /// The elements row by row.
    var elements: [Double] {
        let rows = transposed
        return [rows.first, rows.second, rows.third].flatMap { [$0.x, $0.y, $0.z] }
    }
}
