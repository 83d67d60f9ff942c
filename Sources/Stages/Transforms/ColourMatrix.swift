import Glibc

/// What makes new colours of old ones: three rows of three factors (Filter Effects Module Level 1, section 9.6).
struct ColourMatrix {
    private(set) var values: [Double]

    init(brightness: Double, saturation: Double, hue: Double) {
        let luma = [0.213, 0.715, 0.072]
        // Grey and the distance from it: more or less of the latter is saturation.
        let saturating = (0..<9).map { index -> Double in
            let grey = luma[index % 3] * (1 - saturation)
            return index / 3 == index % 3 ? grey + saturation : grey
        }
        let (sine, cosine) = (sin(hue * .pi / 180), cos(hue * .pi / 180))
        let turning: [Double] = [
            luma[0] + cosine * (1 - luma[0]) - sine * luma[0],
            luma[1] - cosine * luma[1] - sine * luma[1],
            luma[2] - cosine * luma[2] + sine * (1 - luma[2]),
            luma[0] - cosine * luma[0] + sine * 0.143,
            luma[1] + cosine * (1 - luma[1]) + sine * 0.140,
            luma[2] - cosine * luma[2] - sine * 0.283,
            luma[0] - cosine * luma[0] - sine * (1 - luma[0]),
            luma[1] - cosine * luma[1] + sine * luma[1],
            luma[2] + cosine * (1 - luma[2]) + sine * luma[2],
        ]
        values = [Double](repeating: 0, count: 9)
        for row in 0..<3 {
            for column in 0..<3 {
                var sum = 0.0
                for middle in 0..<3 { sum += turning[row * 3 + middle] * saturating[middle * 3 + column] }
                values[row * 3 + column] = sum * brightness
            }
        }
    }
}
