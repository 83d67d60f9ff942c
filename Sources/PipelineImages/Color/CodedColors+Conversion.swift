import Pipeline

extension CodedColors {
    /// Converts pixels to sRGB, in place. Colours that sRGB hasn't are clipped, as ICC's relative colorimetric intent
    /// does; the tones of PQ and HLG are mapped.
    /// - Throws: `CancellationError`.
    func convertToSRGB(_ pixels: inout [UInt8], channels: Int, _ cancellation: WorkCancellation) throws {
        guard differsFromSRGB else { return }
        try cancellation.check()
        if let tones = ToneMapping(self, bits: 8) {
            try tones.apply(to: &pixels, channels: channels, cancellation)
        } else {
            ICCConversion(self, channels: channels)?.apply(to: &pixels)
        }
    }
}

extension ICCConversion {
    /// Converts from colours that are described by numbers; `nil` if a matrix and curves can't, or if there is nothing
    /// to convert.
    init?(_ colors: CodedColors, channels: Int) {
        guard let curve = TransferCurve(colors.transfer), !curve.isHighRange,
            let matrix = ColorPrimaries.matrix(from: colors.primaries, to: 1)
        else { return nil }
        let light = (0..<256).map { curve.light(colors.level(Double($0) / 255)) }
        self.init(light: light, matrix: matrix.elements, channels: channels)
    }
}
