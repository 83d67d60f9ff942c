import ArgumentParser
import Pipeline
import PipelineFile
import Stages

/// The options that change images, shared by all verbs that have them.
struct OperationOptions: ParsableArguments {
    @Option(
        name: [.customShort("s", allowingJoined: true), .long],
        help: ArgumentHelp(
            "The size, such as 400x300, 400, x300 or 50%. WxH fits, WxH! stretches, WxH^ covers, > only shrinks, < only enlarges; W or xH set one side.",
            valueName: "geometry"),
        completion: .list(["300", "x300", "400x300", "640x640", "50%"]))
    var size: Geometry?

    @Option(
        help: ArgumentHelp(
            "Fill the size and crop the rest, keeping a part. One of centre, north, southEast…, attention or entropy; or cut first: 16:9, 16:9:north, 50%x50% or 800x600+10+20.",
            valueName: "part"),
        completion: .list(CropArgument.names))
    var crop: CropArgument?

    @Option(
        help: ArgumentHelp(
            "Apply transforms, such as sharpen=0.5. Several are a list on one line: resize=800:600:fit=cover,sharpen=0.5",
            valueName: "list"),
        completion: .list(Program.operations.specifications.map(\.name)))
    var ops: String?

    @Option(
        help: ArgumentHelp("A pipeline of your own, a list of stages in YAML.", valueName: "file"),
        completion: .file(extensions: ["yaml", "yml"]))
    var pipeline: PipelineArgument?

    func validate() throws {
        if pipeline != nil, ops != nil || size != nil || crop != nil {
            throw ValidationError("--pipeline stands for the whole list; leave -s, --crop and --ops out.")
        }
        if crop != nil, part == nil, size?.box == nil {
            throw ValidationError("--crop needs a size of two sides in pixels: -s 400x300.")
        }
        _ = try chain()
    }

    /// Fills in the recipe's transforms.
    /// - Parameter standard: The size if none is given.
    func apply(to recipe: inout Recipe, standard: Geometry? = nil) throws {
        if let pipeline {
            var resources = recipe.resources
            // The recipe decides for each result how many frames a decode without a number keeps.
            if recipe.frames == nil { resources.limits.frames = FramesArgument.all }
            recipe.whole = try pipeline.pipeline(resources, recipe.fleet)
        } else {
            recipe.operations = try chain(standard: standard)
        }
    }

    /// The size of the result for a source of a size, if the options only set a size; else `nil`.
    func plannedSize(of size: PixelSize, standard: Geometry? = nil) -> PixelSize? {
        guard pipeline == nil, ops == nil else { return nil }
        if crop != nil, part == nil { return self.size?.box }
        let cut = part.map { $0.neededRegion(of: size, later: PixelNeeds())?.region.size } ?? size
        return cut.map { (self.size ?? standard)?.target(of: $0) ?? $0 }
    }

    private func chain(standard: Geometry? = nil) throws -> Chain {
        let operations = try ops.map { text in
            let chain: Chain
            do { chain = try OperationList(text, catalog: Program.operations).chain } catch {
                throw ValidationError(CommandWords.text(of: error))
            }
            for stage in chain.stages where !stage.accepts.contains(.decoded) || !stage.produces.contains(.decoded) {
                throw ValidationError(
                    "--ops takes stages that turn pixels into pixels, which \(stage.name) doesn't. Use it in --pipeline."
                )
            }
            return chain
        }
        let first = (size ?? standard).map(first) ?? part.map { [$0] } ?? []
        return Chain(first + (operations?.stages ?? []))
    }

    /// The part that is cut out before anything else.
    private var part: Crop? { if case .part(let crop) = crop { crop } else { nil } }

    private func first(_ size: Geometry) -> [any Stage] {
        switch (crop, size.box) {
        case (.part(let crop), _): [crop, FitGeometry(size)]
        case (.gravity(let gravity), let box?): [Resize(box, fit: .cover, enlarges: true, gravity: gravity)]
        case (.interest(let interest), let box?):
            [Resize(box, fit: .outside, enlarges: true), Crop(box, by: interest)]
        default: [FitGeometry(size)]
        }
    }
}
