import Pipeline

extension DecodedImage {
    /// Returns a picture of 16 bits a channel in PQ, HLG or linear light as one of 8 bits in sRGB.
    /// - Throws: `CancellationError`.
    func mappedToSRGB(_ cancellation: WorkCancellation) throws -> DecodedImage {
        guard layout.isDeep, let colors = layout.colorSpace.codedColors, let curve = TransferCurve(colors.transfer),
            let toSRGB = ColorPrimaries.matrix(from: colors.primaries, to: 1)
        else { return self }
        let color: (Int, Int, Int) -> SIMD3<UInt8>
        if let tones = ToneMapping(colors, bits: 16) {
            color = tones.color
        } else {
            let light = (0...65535).map { curve.light(Double($0) / 65535) }
            color = { red, green, blue in
                let mapped = toSRGB * SIMD3(light[red], light[green], light[blue])
                return SIMD3(
                    ICCConversion.level(mapped.x), ICCConversion.level(mapped.y), ICCConversion.level(mapped.z))
            }
        }
        let channels = layout.channelCount
        let bytes = try frames[0].bytes.withUnsafeBytes { bytes -> [UInt8] in
            let samples = bytes.bindMemory(to: UInt16.self)
            var made: [UInt8] = []
            made.reserveCapacity(samples.count)
            for start in stride(from: 0, to: samples.count, by: channels) {
                if start % (channels << 16) == 0 { try cancellation.check() }
                let (green, blue) = channels < 3 ? (start, start) : (start + 1, start + 2)
                let mapped = color(Int(samples[start]), Int(samples[green]), Int(samples[blue]))
                for channel in 0..<min(channels, 3) { made.append(mapped[channel]) }
                if channels == 4 { made.append(UInt8(reducing: samples[start + 3])) }
            }
            return made
        }
        return try DecodedImage(
            validating: bytes, size: size, layout: layout.with(.uint8), nativeSize: nativeSize, region: region
        ).labelled(.sRGB)
    }
}
