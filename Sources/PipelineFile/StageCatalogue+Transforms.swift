import Pipeline
public import Stages

extension StageCatalogue {
    private static let side = StageParameter.Kind.integer(1...1_000_000)
    private static let offset = StageParameter.Kind.integer(-1_000_000...1_000_000)
    private static let length = StageParameter.Kind.length(1...1_000_000)
    private static let distance = StageParameter.Kind.length(-1_000_000...1_000_000)
    private static let sigma = StageParameter.Kind.number(0...100)
    private static let edge = StageParameter.Kind.integer(0...1_000_000)
    private static let gravities = StageParameter.Kind.choice(Gravity.allCases.map(\.rawValue))

    /// The transforms, which turn pixels into other pixels. ``OperationList`` knows these by default. `composite` decodes
    /// its file in this process; see ``operations(_:)``.
    public static let operations = operations(.standard)

    /// Returns the transforms, with the codecs of the files that `composite` lays over pictures: those of the list that
    /// the transforms join, such as `PipelineResources.codecs`.
    public static func operations(_ codecs: ImageCodecs) -> StageCatalogue { StageCatalogue(specifications(codecs)) }

    private static func specifications(_ codecs: ImageCodecs) -> [StageSpecification] {
        [
            StageSpecification(
                "resize",
                [
                    StageParameter("width", side, "The width in pixels.", isRequired: true, example: "800"),
                    StageParameter(
                        "height", side, "The height in pixels. Without it only the width counts.", example: "600"),
                    StageParameter(
                        "fit", .choice(Resize.Fit.allCases.map(\.rawValue)), "How the image fills the size.",
                        standard: "inside", example: "cover"),
                    StageParameter("enlarge", .flag, "Lets the image grow.", standard: "false"),
                    StageParameter(
                        "gravity", gravities, "The part that cover keeps, and the place where contain puts the image.",
                        standard: "centre"),
                    StageParameter(
                        "background", .colour, "The colour around the image for contain.", standard: "white"),
                ], summary: "Scales the image to a size.", example: "800:600:cover"
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
                    StageParameter("width", length, "The width.", example: "400"),
                    StageParameter("height", length, "The height.", example: "300"),
                    StageParameter("x", distance, "The left edge.", example: "10"),
                    StageParameter("y", distance, "The upper edge.", example: "20"),
                    StageParameter("gravity", gravities, "The part that is kept.", standard: "centre"),
                    StageParameter("focusX", .number(0...1), "The point that is kept, from the left.", example: "0.3"),
                    StageParameter("focusY", .number(0...1), "The point that is kept, from above.", example: "0.7"),
                    StageParameter(
                        "by", .choice(Interest.allCases.map(\.rawValue)),
                        "Keeps the most interesting part by this measure.",
                        example: "attention"),
                    StageParameter(
                        "aspect", .aspect, "Keeps the largest part of this aspect, in place of width and height.",
                        example: "16/9"),
                ], summary: "Cuts a part out of the image.", example: "400:300:attention"
            ) { try crop($0) },
            StageSpecification(
                "trim",
                [
                    StageParameter(
                        "tolerance", .integer(0...255), "How far the border's colours may differ.", standard: "10",
                        example: "20")
                ], summary: "Cuts off a border of one colour."
            ) { Trim(tolerance: $0.integer("tolerance") ?? 10) },
            StageSpecification(
                "pad",
                [
                    StageParameter("width", side, "The canvas's width, together with its height.", example: "1000"),
                    StageParameter("height", side, "The canvas's height.", example: "1000"),
                    StageParameter("gravity", gravities, "Where the image lies on the canvas.", standard: "centre"),
                    StageParameter("colour", .colour, "The canvas's colour.", standard: "white"),
                    StageParameter("top", edge, "Rows above, if no canvas is given.", standard: "0", example: "10"),
                    StageParameter("left", edge, "Columns on the left.", standard: "0", example: "10"),
                    StageParameter("bottom", edge, "Rows below.", standard: "0", example: "10"),
                    StageParameter("right", edge, "Columns on the right.", standard: "0", example: "10"),
                ], summary: "Puts the image on a larger canvas.", example: "1000:1000:colour=#ff8000"
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
                    StageParameter(
                        "degrees", .number(-360...360), "The angle in degrees, clockwise.", isRequired: true,
                        example: "90"),
                    StageParameter(
                        "background", .colour,
                        "The colour of the corners; formats without alpha write transparent as white.",
                        standard: "transparent", example: "white"),
                ], summary: "Turns the image."
            ) { Rotate(degrees: $0.number("degrees") ?? 0, background: $0.colour("background") ?? .clear) },
            StageSpecification(
                "flip",
                [
                    StageParameter(
                        "axis", .choice(Flip.Axis.allCases.map(\.rawValue)), "The direction.", isRequired: true)
                ],
                summary: "Mirrors the image."
            ) { Flip($0.choice("axis") ?? .horizontal) },
            StageSpecification(
                "roundCorners",
                [
                    StageParameter(
                        "radius", .number(0...1_000_000), "The radius in pixels.", isRequired: true, example: "24")
                ],
                summary: "Makes the corners round and transparent."
            ) { RoundCorners(radius: $0.number("radius") ?? 0) },
            StageSpecification("circle", summary: "Keeps a circle of the image.") { _ in Circle() },
            StageSpecification(
                "blur", [StageParameter("sigma", sigma, "The deviation in pixels.", isRequired: true, example: "5")],
                summary: "Blurs the image by a Gaussian."
            ) { Blur(sigma: $0.number("sigma") ?? 0) },
            StageSpecification(
                "sharpen",
                [
                    StageParameter("amount", .number(0...10), "How strongly.", standard: "0.5", example: "0.8"),
                    StageParameter("sigma", sigma, "The deviation in pixels.", standard: "0.7", example: "1"),
                ], summary: "Sharpens the image by an unsharp mask.", example: "0.5"
            ) { Sharpen($0.number("amount") ?? 0.5, sigma: $0.number("sigma") ?? 0.7) },
            StageSpecification("greyscale", summary: "Takes the colours out of the image.") { _ in Greyscale() },
            StageSpecification(
                "adjust",
                [
                    StageParameter("brightness", .number(0...10), "A factor.", standard: "1", example: "1.2"),
                    StageParameter("saturation", .number(0...10), "A factor.", standard: "1", example: "0.8"),
                    StageParameter("hue", .number(-360...360), "A turn in degrees.", standard: "0", example: "90"),
                ], summary: "Changes brightness, saturation and hue.", example: "1.2:saturation=0.8"
            ) {
                Adjust(
                    brightness: $0.number("brightness") ?? 1, saturation: $0.number("saturation") ?? 1,
                    hue: $0.number("hue") ?? 0)
            },
            StageSpecification(
                "composite",
                [
                    StageParameter("file", .text, "The picture's path.", isRequired: true, example: "logo.png"),
                    StageParameter("gravity", gravities, "Where the picture lies.", standard: "southEast"),
                    StageParameter("x", offset, "Pixels from there towards the right.", standard: "0", example: "-10"),
                    StageParameter("y", offset, "Pixels from there downwards.", standard: "0", example: "-10"),
                    StageParameter(
                        "scale", .number(0...10), "The picture's width as a share of the image's.", example: "0.2"),
                    StageParameter(
                        "opacity", .number(0...1), "From 0, invisible, to 1, opaque.", standard: "1", example: "0.5"),
                ], summary: "Lays a picture from a file over the image.", example: "logo.png:southEast:scale=0.2"
            ) { given in
                try Composite(
                    file: given.text("file") ?? "", gravity: given.choice("gravity") ?? .southEast,
                    offset: (given.integer("x") ?? 0, given.integer("y") ?? 0), scale: given.number("scale"),
                    opacity: given.number("opacity") ?? 1, codecs: codecs)
            },
            StageSpecification(
                "flatten", [StageParameter("background", .colour, "The colour.", standard: "white")],
                summary: "Puts a colour behind transparent pixels."
            ) { Flatten($0.colour("background") ?? .white) },
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
