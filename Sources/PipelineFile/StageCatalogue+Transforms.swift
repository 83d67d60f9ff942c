import Pipeline
package import Stages

extension StageCatalogue {
    private static let side = StageParameter.Kind.integer(1...1_000_000)
    private static let offset = StageParameter.Kind.integer(-1_000_000...1_000_000)
    private static let length = StageParameter.Kind.length(1...1_000_000)
    private static let distance = StageParameter.Kind.length(-1_000_000...1_000_000)
    private static let gravities = StageParameter.Kind.choice(Gravity.allCases.map(\.rawValue))

    /// What turns pixels into other pixels, or into bytes: all that ``OperationList`` knows.
    public static let operations = operations(.standard)

    /// The same, where pictures that are laid over others may have the formats of a list.
    package static func operations(_ codecs: ImageCodecs) -> StageCatalogue { StageCatalogue(specifications(codecs)) }

    private static func specifications(_ codecs: ImageCodecs) -> [StageSpecification] {
        [
            StageSpecification(
                "resize",
                [
                    StageParameter("width", side, isRequired: true), StageParameter("height", side),
                    StageParameter("fit", .choice(Resize.Fit.allCases.map(\.rawValue))),
                    StageParameter("enlarge", .flag),
                    StageParameter("gravity", gravities), StageParameter("background", .colour),
                ]
            ) { given in
                let width = given.integer("width") ?? 1
                // Without a height the width alone counts.
                let size = PixelSize(width: width, height: given.integer("height") ?? 1_000_000)
                return Resize(
                    size, fit: given.choice("fit") ?? .inside, enlarges: given.flag("enlarge"),
                    gravity: given.choice("gravity") ?? .centre, background: given.colour("background") ?? .white)
            },
            StageSpecification(
                "crop",
                [
                    StageParameter("width", length), StageParameter("height", length),
                    StageParameter("x", distance), StageParameter("y", distance), StageParameter("gravity", gravities),
                    StageParameter("focusX", .number(0...1)), StageParameter("focusY", .number(0...1)),
                    StageParameter("by", .choice(Interest.allCases.map(\.rawValue))), StageParameter("aspect", .aspect),
                ]
            ) { try crop($0) },
            StageSpecification("trim", [StageParameter("tolerance", .integer(0...255))]) { given in
                Trim(tolerance: given.integer("tolerance") ?? 10)
            },
            StageSpecification(
                "pad",
                [
                    StageParameter("width", side), StageParameter("height", side), StageParameter("gravity", gravities),
                    StageParameter("colour", .colour), StageParameter("top", .integer(0...1_000_000)),
                    StageParameter("left", .integer(0...1_000_000)), StageParameter("bottom", .integer(0...1_000_000)),
                    StageParameter("right", .integer(0...1_000_000)),
                ]
            ) { given in
                let colour = given.colour("colour") ?? .white
                if let width = given.integer("width"), let height = given.integer("height") {
                    let size = PixelSize(width: width, height: height)
                    return Pad(to: size, gravity: given.choice("gravity") ?? .centre, colour: colour)
                }
                return Pad(
                    top: given.integer("top") ?? 0, left: given.integer("left") ?? 0,
                    bottom: given.integer("bottom") ?? 0, right: given.integer("right") ?? 0, colour: colour)
            },
            StageSpecification(
                "rotate",
                [
                    StageParameter("degrees", .number(-360...360), isRequired: true),
                    StageParameter("background", .colour),
                ]
            ) { Rotate(degrees: $0.number("degrees") ?? 0, background: $0.colour("background") ?? .clear) },
            StageSpecification(
                "flip", [StageParameter("axis", .choice(Flip.Axis.allCases.map(\.rawValue)), isRequired: true)]
            ) { Flip($0.choice("axis") ?? .horizontal) },
            StageSpecification("roundCorners", [StageParameter("radius", .number(0...1_000_000), isRequired: true)]) {
                RoundCorners(radius: $0.number("radius") ?? 0)
            },
            StageSpecification("circle") { _ in Circle() },
            StageSpecification("blur", [StageParameter("sigma", .number(0...100), isRequired: true)]) {
                Blur(sigma: $0.number("sigma") ?? 0)
            },
            StageSpecification(
                "sharpen", [StageParameter("amount", .number(0...10)), StageParameter("sigma", .number(0...100))]
            ) { Sharpen($0.number("amount") ?? 0.5, sigma: $0.number("sigma") ?? 0.7) },
            StageSpecification("greyscale") { _ in Greyscale() },
            StageSpecification(
                "adjust",
                [
                    StageParameter("brightness", .number(0...10)), StageParameter("saturation", .number(0...10)),
                    StageParameter("hue", .number(-360...360)),
                ]
            ) {
                Adjust(
                    brightness: $0.number("brightness") ?? 1, saturation: $0.number("saturation") ?? 1,
                    hue: $0.number("hue") ?? 0)
            },
            StageSpecification(
                "composite",
                [
                    StageParameter("file", .text, isRequired: true), StageParameter("gravity", gravities),
                    StageParameter("x", offset), StageParameter("y", offset), StageParameter("scale", .number(0...10)),
                    StageParameter("opacity", .number(0...1)),
                ]
            ) { given in
                try Composite(
                    file: given.text("file") ?? "", gravity: given.choice("gravity") ?? .southEast,
                    offset: (given.integer("x") ?? 0, given.integer("y") ?? 0), scale: given.number("scale"),
                    opacity: given.number("opacity") ?? 1, codecs: codecs)
            },
            StageSpecification("flatten", [StageParameter("background", .colour)]) {
                Flatten($0.colour("background") ?? .white)
            },
        ]
    }

    private static func crop(_ given: StageArguments) throws(StageMistake) -> Crop {
        let gravity: Gravity = given.choice("gravity") ?? .centre
        let (width, height) = (given.length("width"), given.length("height"))
        if let aspect = given.aspect("aspect") {
            guard width == nil, height == nil else { throw StageMistake("crop takes an aspect or a size, not both.") }
            return Crop(aspect: aspect, gravity: gravity)
        }
        guard let width, let height else { throw StageMistake("crop needs width and height, or aspect.") }
        if given.length("x") != nil || given.length("y") != nil {
            return Crop(
                x: given.length("x") ?? .pixels(0), y: given.length("y") ?? .pixels(0), width: width, height: height)
        }
        let interest: Interest? = given.choice("by")
        guard interest != nil || given.number("focusX") != nil || given.number("focusY") != nil else {
            return Crop(width: width, height: height, gravity: gravity)
        }
        guard case .pixels(let across) = width, case .pixels(let down) = height else {
            throw StageMistake("crop by interest, or around a point, takes width and height in pixels.")
        }
        let size = PixelSize(width: across, height: down)
        if given.number("focusX") == nil, given.number("focusY") == nil, let interest {
            return Crop(size, by: interest)
        }
        return Crop(size, focalPoint: (given.number("focusX") ?? 0.5, given.number("focusY") ?? 0.5))
    }
}
