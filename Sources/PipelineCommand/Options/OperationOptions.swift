import ArgumentParser
import LibC
import Pipeline
import PipelineFile
import Stages

#if Fleet
import PipelineShared
#endif

/// The options that change images, shared by all verbs that have them.
struct OperationOptions: ParsableArguments {
    @Option(
        name: .letter("s"),
        help: ArgumentHelp(
            "The size, such as 400x300, 400, x300 or 50%. WxH fits, WxH! stretches, WxH^ covers, > only shrinks, < only enlarges; W or xH set one side.",
            valueName: "geometry"), completion: .list(["300", "x300", "400x300", "640x640", "50%"]))
    var size: Geometry?

    @Option(
        help: ArgumentHelp(
            "Fill the size and crop the rest, keeping a part. One of centre, north, southEast…, attention or entropy; or cut first: 16:9, 16:9:north, 50%x50% or 800x600+10+20.",
            valueName: "part"), completion: .list(CropArgument.names))
    var crop: CropArgument?

    @Option(
        help: ArgumentHelp(
            "Apply transforms, such as sharpen=0.5. Several are a list on one line: resize=800:600:fit=cover,sharpen=0.5",
            valueName: "list"), completion: .list(Program.operations.specifications.map(\.name)))
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

/// The part of an image that is kept. Case and hyphens in names don't matter.
enum CropArgument: ExpressibleByArgument {
    /// The image fills the size, and this part of it is kept.
    case gravity(Gravity)
    case interest(Interest)
    /// A part that is cut out before anything else: `16:9`, `16:9:north`, `50%x50%` or, with its left upper corner,
    /// `800x600+10+20`.
    case part(Crop)

    /// The names that completions offer.
    static let names = Gravity.allCases.map(\.rawValue) + ["attention", "entropy"]

    init?(argument: String) {
        if let gravity = Self.gravity(argument) {
            self = .gravity(gravity)
        } else if let interest = Interest(rawValue: argument.lowercased()) {
            self = .interest(interest)
        } else if let crop = Self.aspect(argument) ?? Self.rectangle(argument) {
            self = .part(crop)
        } else {
            return nil
        }
    }

    private static func gravity(_ text: some StringProtocol) -> Gravity? {
        NearestName.exact(String(text), in: Gravity.allCases, by: \.rawValue)
    }

    private static func aspect(_ text: String) -> Crop? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard (2...3).contains(parts.count),
            let aspect = StageParameter.Kind.aspect.read(parts[..<2].joined(separator: ":")),
            let gravity = parts.count == 3 ? gravity(parts[2]) : .center
        else { return nil }
        return Crop(aspect: aspect, gravity: gravity)
    }

    private static func rectangle(_ text: String) -> Crop? {
        let parts = text.lowercased().split(separator: "+", omittingEmptySubsequences: false).map(String.init)
        let sides = parts[0].split(separator: "x", omittingEmptySubsequences: false)
            .compactMap { StageParameter.Kind.length(1...1_000_000).read(String($0)) }
        let corner = parts.dropFirst().compactMap { StageParameter.Kind.length(0...1_000_000).read($0) }
        guard sides.count == 2, corner.count == parts.count - 1 else { return nil }
        return switch corner.count {
        case 0: Crop(width: sides[0], height: sides[1])
        case 2: Crop(x: corner[0], y: corner[1], width: sides[0], height: sides[1])
        default: nil
        }
    }
}

/// A file that holds a pipeline; `-` is standard input.
struct PipelineArgument: ExpressibleByArgument, Sendable {
    let path: String

    init?(argument: String) {
        guard !argument.isEmpty else { return nil }
        path = argument
    }

    /// The pipeline, on the caches and the client of a run, and on the shared tier if there is one.
    /// - Throws: `ValidationError` with file, line and column.
    func pipeline(_ resources: PipelineResources, _ fleet: Fleet?) throws -> ImagePipeline {
        let file = path == "-" ? "/dev/stdin" : path
        guard let bytes = try StandardStream.readFile(file, limit: YAMLDocument.mostBytes) else {
            throw ValidationError("\(printable(path)): The file can't be read: \(String(cString: strerror(errno))).")
        }
        do {
            let document = try PipelineDocument(String(decoding: bytes, as: UTF8.self), name: printable(path))
            return try document.pipeline(.all(resources, fleet), clock: resources.clock)
        } catch let error as LoadError {
            throw ValidationError(CommandWords.text(of: error))
        }
    }
}
