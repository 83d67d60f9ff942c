import HTTPTypes
import Pipeline
import PipelineImages

/// What the option `watermark` says.
struct ImgproxyWatermark {
    /// From 0, for no watermark, to 1; a factor for the server's own opacity.
    var opacity = 0.0
    /// Where it lies. Where it is repeated, the offsets are the distances between the repeats.
    var gravity = ImgproxyGravity()
    var isRepeated = false
    /// The part of the result's sides that it fits into; 0 for its own size.
    var scale = 0.0

    /// Reads `watermark:OPACITY:POSITION:X:Y:SCALE`. Arguments after the opacity that are missing or empty keep their value.
    mutating func read(_ option: ImgproxyArguments) throws(Problem) {
        try option.check(atMost: 5)
        guard let opacity = try option.decimal(at: 0, 0...1) else { throw option.wrong("Write watermark:0.5.") }
        self.opacity = opacity
        if !option[1].isEmpty {
            let place = ImgproxyGravity.Place(rawValue: String(option[1]))
            isRepeated = option[1] == "re"
            guard isRepeated || place.map({ ![.sm, .fp].contains($0) }) == true else {
                throw option.wrong("A position is re, ce, no, so, ea, we, noea, nowe, soea or sowe.")
            }
            gravity.place = place ?? .ce
        }
        gravity.x = try option.decimal(at: 2, -1e6...1e6) ?? gravity.x
        gravity.y = try option.decimal(at: 3, -1e6...1e6) ?? gravity.y
        scale = try option.decimal(at: 4, 0...10) ?? scale
        guard !isRepeated || (gravity.x >= 0 && gravity.y >= 0) else {
            throw option.wrong("The distances between repeats are 0 or more.")
        }
    }
}

/// Lays the server's watermark over the picture.
struct ImgproxyMark: PixelTransform {
    let watermark: Watermark
    let options: ImgproxyWatermark
    let sizing: ImgproxySizing

    var signature: String? { "imgproxyMark(\(watermark.digest), \(watermark.opacity), \(parameters))" }

    var parameters: String {
        "\(options.opacity), \(options.isRepeated ? "repeated " : "")\(options.gravity), \(options.scale), "
            + sizing.description
    }

    /// The size of the picture or of the scaled watermark, whichever has more pixels.
    func largestSize(of image: DecodedImage) -> PixelSize {
        let mark = options.scale > 0 ? watermark.picture.size.scaled(into: box(in: image.size)) : watermark.picture.size
        return mark.width * mark.height > image.width * image.height ? mark : image.size
    }

    func transformed(_ image: DecodedImage, _ cancellation: WorkCancellation) throws -> DecodedImage {
        var mark = watermark.picture
        if options.scale > 0 {
            let box = box(in: image.size)
            mark = try Resize(box, enlarges: true).transformed(mark, cancellation)
        }
        let ratio = sizing.layout(of: image).pixelRatio
        let opacity = options.opacity * watermark.opacity
        guard options.isRepeated else {
            let place = options.gravity.origin(of: mark.size, in: image.size, scale: ratio, overlaps: true)
            return try image.covered(by: mark, at: place, opacity: opacity, cancellation)
        }
        let across = Repeats(of: mark.width, within: image.width, options.gravity.x, ratio)
        let down = Repeats(of: mark.height, within: image.height, options.gravity.y, ratio)
        return try image.covered(
            by: mark, at: (across.first, down.first), repeatedAt: (across.step, down.step), opacity: opacity,
            cancellation)
    }

    private func box(in size: PixelSize) -> PixelSize {
        PixelSize(width: scaled(size.width), height: scaled(size.height))
    }

    private func scaled(_ length: Int) -> Int {
        max(1, Int((Double(length) * options.scale).rounded(.toNearestOrEven)))
    }
}

/// Where watermarks lie along one side: an odd number of them, with the middle one in the middle.
private struct Repeats {
    let first: Int
    let step: Int

    init(of length: Int, within whole: Int, _ offset: Double, _ scale: Double) {
        let gap = ImgproxyGravity.distance(offset, in: whole, scale: scale)
        step = length + gap
        let count = ((whole + step - 1) / step) | 1
        first = gap / 2 - (count * step - whole) / 2
    }
}
