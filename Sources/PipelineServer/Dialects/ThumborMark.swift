import HTTPTypes
import Pipeline
import PipelineImages

/// What the filter `watermark(URL,X,Y,ALPHA,W_RATIO,H_RATIO)` says.
struct ThumborMark: Sendable {
    /// Where the picture lies along a side.
    enum Place: Sendable, Equatable {
        case center
        /// From the left or upper edge, or from the opposite one. Percent are those of the side.
        case at(Int, isPercent: Bool, isFromEnd: Bool)
    }

    /// The source as the path names it.
    let source: String
    private let x, y: Place
    /// From 0, invisible, to 1.
    private let opacity: Double
    /// The sides of the box that it is scaled into, in percent of the picture's; 0 for one that doesn't count.
    private let box: PixelSize
    /// `nil` in a plan.
    var picture: DecodedImage?

    /// Reads the filter's arguments.
    /// - Throws: 400 that names the filter.
    init(_ filter: ThumborArguments) throws(Problem) {
        try filter.check(4...6)
        guard !filter[0].isEmpty else { throw filter.wrong("Write the URL of a picture first.") }
        source = String(filter[0])
        (x, y) = (try Self.place(filter, 1), try Self.place(filter, 2))
        opacity = 1 - Double(try filter.number(at: 3, 0...100)) / 100
        func ratio(_ index: Int) throws(Problem) -> Int {
            ["", "none"].contains(filter[index]) ? 0 : try filter.number(at: index, 0...100)
        }
        box = PixelSize(width: try ratio(4), height: try ratio(5))
    }

    private static func place(_ filter: ThumborArguments, _ index: Int) throws(Problem) -> Place {
        let text = filter[index]
        if text == "center" { return .center }
        let isFromEnd = text.hasPrefix("-")
        let digits = isFromEnd ? text.dropFirst() : text
        let isPercent = digits.hasSuffix("p")
        let number = isPercent ? digits.dropLast() : digits
        guard !number.isEmpty, let length = number.plainNumber, length <= 100_000 else {
            throw filter.wrong("Write a place as 10, -10, 50p or center. Repeats of a picture aren't made here.")
        }
        return .at(length, isPercent: isPercent, isFromEnd: isFromEnd)
    }

    /// Lays the picture over another.
    /// - Throws: `LoadError` with `untransformable` if it would have more pixels than that.
    func laid(over image: DecodedImage, _ cancellation: WorkCancellation) throws -> DecodedImage {
        guard let picture, opacity > 0 else { return image }
        let size = size(of: picture.size, in: image.size)
        guard
            Double(size.width) * Double(size.height)
                <= max(Double(image.width) * Double(image.height), Double(Overlaid.maximumPixels))
        else {
            throw LoadError(.untransformable, subject: "", "The watermark would have \(size) pixels.")
        }
        let mark = try Resize(size, fit: .fill, enlarges: true).transformed(picture, cancellation)
        let place = (
            Self.start(x, mark.width, within: image.width), Self.start(y, mark.height, within: image.height)
        )
        return try image.covered(by: mark, at: place, opacity: opacity, cancellation)
    }

    /// thumbor fits the picture into the box, and enlarges it too.
    private func size(of own: PixelSize, in whole: PixelSize) -> PixelSize {
        guard box != 0 else { return own }
        let across = box.width == 0 ? .infinity : Double(whole.width * box.width) / 100 / Double(own.width)
        let down = box.height == 0 ? .infinity : Double(whole.height * box.height) / 100 / Double(own.height)
        func side(_ length: Int) -> Int {
            max(1, Int(min(1e9, (Double(length) * min(across, down)).rounded(.toNearestOrEven))))
        }
        return PixelSize(width: side(own.width), height: side(own.height))
    }

    private static func start(_ place: Place, _ length: Int, within whole: Int) -> Int {
        guard case .at(let number, let isPercent, let isFromEnd) = place else { return (whole - length) / 2 }
        let distance =
            isPercent
            ? Int((Double(whole * number) / 100 + 1e-5).rounded(.toNearestOrEven)) : number
        return isFromEnd ? whole - length - distance : distance
    }
}

extension ThumborMark: CustomStringConvertible {
    var description: String { "watermark \(x) \(y) \(opacity) \(box)" }
}
