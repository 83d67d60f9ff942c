import LibC
import Pipeline
import PipelineImages

/// Pictures of 16 bits a channel, and how they are scaled in double precision.
enum DeepPicture {
    /// Smooth gradients with detail, of one, three or four channels.
    static func gradients(_ size: PixelSize, channels: Int) -> DecodedImage {
        var samples: [UInt16] = []
        for y in 0..<size.height {
            for x in 0..<size.width {
                for channel in 0..<channels {
                    let wave = sin(Double(x) / 7 + Double(channel)) * cos(Double(y) / 5)
                    let ramp = Double(x) / Double(size.width) + Double(y) / Double(size.height)
                    let value = 20_000 + 9000 * wave + 14_000 * ramp
                    samples.append(channel == 3 ? UInt16(30_000 + 17 * x) : UInt16(value))
                }
            }
        }
        return image(size, channels: channels, samples)
    }

    static func image(_ size: PixelSize, channels: Int, _ samples: [UInt16]) -> DecodedImage {
        let layout = PixelLayout(channelCount: channels, hasAlpha: channels == 4, sampleType: .uint16)
        return DecodedImage(size: size, layout: layout, pixels: samples.withUnsafeBytes { Array($0) })
    }

    /// The ratio of signal to noise, in decibels, of samples against a picture that Lanczos-3 scales as it is defined.
    static func signal(_ made: [UInt16], of image: DecodedImage, scaledTo target: PixelSize) -> Double {
        let source = image.samples.map { Double($0) }
        let wanted = scaled(source, image.size, target, image.layout.channelCount)
        let error = zip(made, wanted).reduce(0) { $0 + (Double($1.0) - $1.1) * (Double($1.0) - $1.1) }
        return 10 * log10(65535 * 65535 * Double(made.count) / error)
    }

    private static func scaled(
        _ samples: [Double], _ source: PixelSize, _ target: PixelSize, _ channels: Int
    ) -> [Double] {
        func weights(_ index: Int, _ count: Int, _ target: Int) -> [(Int, Double)] {
            let scale = Double(count) / Double(target)
            let (width, center) = (max(1, scale), (Double(index) + 0.5) * scale)
            let all = (0..<count).map { place -> (Int, Double) in
                let x = (Double(place) + 0.5 - center) / width
                if x == 0 { return (place, 1) }
                return (place, abs(x) >= 3 ? 0 : 3 * sin(.pi * x) * sin(.pi * x / 3) / (.pi * .pi * x * x))
            }.filter { $0.1 != 0 }
            let sum = all.reduce(0) { $0 + $1.1 }
            return all.map { ($0.0, $0.1 / sum) }
        }
        let across = (0..<target.width).map { weights($0, source.width, target.width) }
        var result: [Double] = []
        for row in 0..<target.height {
            let down = weights(row, source.height, target.height)
            for column in across {
                for channel in 0..<channels {
                    var sum = 0.0
                    for (y, vertical) in down {
                        for (x, horizontal) in column {
                            sum += samples[(y * source.width + x) * channels + channel] * vertical * horizontal
                        }
                    }
                    result.append(min(65535, max(0, sum)))
                }
            }
        }
        return result
    }
}

extension DecodedImage {
    /// The samples of the first frame, of 16 bits.
    var samples: [UInt16] { frames[0].bytes.withUnsafeBytes { Array($0.bindMemory(to: UInt16.self)) } }
}
