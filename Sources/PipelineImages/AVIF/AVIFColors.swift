#if AVIF
import CAVIF
import CImages

/// Converts an AVIF picture's planes to RGB (ITU-T H.273 section 8.3), by offsets and a matrix.
struct AVIFColors {
    private let matrix: [Float]
    private let offsets: [Float]

    /// Returns `nil` if a matrix can't convert the colours.
    init?(_ planes: cavif_planes) {
        // One 8-bit level in units of the samples.
        let (depth, most) = (planes.depth, Double(1 << planes.depth - 1))
        let unit = Double(1 << (depth - 8))
        let light = planes.is_full_range ? 255 * unit / most : 255.0 / 219
        let color = planes.is_full_range ? light : 255.0 / 224
        let black: Float = planes.is_full_range ? 0 : 16
        if planes.count == 1 {
            matrix = [light, 0, 0, light, 0, 0, light, 0, 0].map(Float.init)
            offsets = [black, 0, 0]
            return
        }
        switch planes.matrix {
        case 0:
            // Green, blue, red.
            matrix = [0, 0, light, light, 0, 0, 0, light, 0].map(Float.init)
            offsets = [black, black, black]
        case 8:
            matrix = [light, -color, color, light, color, 0, light, -color, -color].map(Float.init)
            offsets = [black, 128, 128]
        default:
            guard let (red, blue) = Self.shares(planes.matrix) else { return nil }
            let green = 1 - red - blue
            matrix = [
                light, 0, 2 * (1 - red) * color,  //
                light, -2 * blue * (1 - blue) / green * color, -2 * red * (1 - red) / green * color,  //
                light, 2 * (1 - blue) * color, 0,
            ].map(Float.init)
            offsets = [black, 128, 128]
        }
    }

    /// The weights of red and blue in the luma.
    private static func shares(_ matrix: Int32) -> (red: Double, blue: Double)? {
        switch matrix {
        case 1: (0.2126, 0.0722)
        case 4: (0.30, 0.11)
        // Unspecified coefficients are taken for those of JPEG.
        case 2, 5, 6: (0.299, 0.114)
        case 7: (0.212, 0.087)
        // Constant luminance differs little from the other kind, and readers don't tell them apart.
        case 9, 10: (0.2627, 0.0593)
        default: nil
        }
    }

    /// Returns 8-bit RGB of a luma plane, alone or with two chroma planes.
    func rgb(_ planes: [[Int16]], count: Int) -> [UInt8] {
        guard let light = planes.first, planes.allSatisfy({ $0.count == count }) else { return [] }
        return light.withUnsafeBufferPointer { light in
            (planes.count > 1 ? planes[1] : planes[0]).withUnsafeBufferPointer { blue in
                (planes.count > 2 ? planes[2] : planes[0]).withUnsafeBufferPointer { red in
                    [UInt8](unsafeUninitializedCapacity: 3 * count) { buffer, filled in
                        guard let out = buffer.baseAddress, let light = light.baseAddress,
                            let blue = blue.baseAddress, let red = red.baseAddress
                        else { return }
                        cresample_planes_to_rgb([light, blue, red], count, matrix, offsets, out)
                        filled = 3 * count
                    }
                }
            }
        }
    }
}
#endif
