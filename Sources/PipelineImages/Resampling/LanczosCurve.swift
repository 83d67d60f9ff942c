import LibC

/// Values of the Lanczos-3 function at equal distances.
///
/// A sine for each value would take longer than scaling a small picture, so each angle is rotated into the next.
struct LanczosCurve {
    private(set) var values: [Double]
    private let step: Double
    private let turn: (sine: Double, cosine: Double)
    private let slowTurn: (sine: Double, cosine: Double)

    /// Prepares for `count` values, `step` apart.
    init(step: Double, count: Int) {
        values = [Double](repeating: 0, count: count)
        self.step = step
        turn = (sin(.pi * step), cos(.pi * step))
        slowTurn = (sin(.pi * step / 3), cos(.pi * step / 3))
    }

    /// Computes the values from `position` on, counted in steps from the middle.
    mutating func trace(from position: Double) {
        let start = Double.pi * position * step
        var (sine, cosine) = (sin(start), cos(start))
        var (slowSine, slowCosine) = (sin(start / 3), cos(start / 3))
        for index in values.indices {
            let x = (position + Double(index)) * step
            let angle = Double.pi * x
            values[index] = abs(x) >= 3 ? 0 : abs(x) < 1e-6 ? 1 : 3 * sine * slowSine / (angle * angle)
            (sine, cosine) = (sine * turn.cosine + cosine * turn.sine, cosine * turn.cosine - sine * turn.sine)
            (slowSine, slowCosine) = (
                slowSine * slowTurn.cosine + slowCosine * slowTurn.sine,
                slowCosine * slowTurn.cosine - slowSine * slowTurn.sine
            )
        }
    }
}
