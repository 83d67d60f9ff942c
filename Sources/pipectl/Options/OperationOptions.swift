import ArgumentParser
import Pipeline
import PipelineFile
import Stages

/// What is done to pictures: the same words in every verb that changes them.
struct OperationOptions: ParsableArguments {
    @Option(
        name: [.customShort("s"), .long],
        help: ArgumentHelp(
            "WxH fits, WxH! stretches, WxH^ covers, > only shrinks, < only enlarges; W or xH set one side.",
            valueName: "geometry"))
    var size: Geometry?

    @Option(
        help: ArgumentHelp(
            "Fill the size and cut off what is too much, keeping this part: centre, north, southEast…",
            valueName: "gravity"))
    var crop: GravityArgument?

    @Option(
        help: ArgumentHelp("Transforms on one line, such as resize=800:600:fit=cover,sharpen=0.5.", valueName: "list"))
    var ops: String?

    func validate() throws {
        if crop != nil, size?.box == nil { throw ValidationError("--crop needs a size of two sides: -s 400x300.") }
        _ = try chain()
    }

    /// Fills in the recipe's transforms.
    /// - Parameter standard: the size where none is given.
    func apply(to recipe: inout Recipe, standard: Geometry? = nil) throws {
        recipe.operations = try chain(standard: standard)
        switch recipe.operations.stages.first {
        case let fit as FitGeometry: recipe.target = { fit.target(of: $0) }
        case let resize as Resize: recipe.target = { resize.target(of: $0) }
        default: break
        }
    }

    private func chain(standard: Geometry? = nil) throws -> Chain {
        let operations = try ops.map { text in
            do { return try OperationList(text).chain } catch { throw ValidationError("\(error)") }
        }
        guard let size = size ?? standard else { return operations ?? Chain([]) }
        let first: any Stage =
            if let crop, let box = size.box {
                Resize(box, fit: .cover, enlarges: true, gravity: crop.gravity)
            } else {
                FitGeometry(size)
            }
        return Chain([first] + (operations?.stages ?? []))
    }
}

/// A place in a picture, in any case and with or without hyphens.
struct GravityArgument: ExpressibleByArgument {
    let gravity: Gravity

    init?(argument: String) {
        let folded = argument.lowercased().filter { $0 != "-" }
        let names = folded == "center" ? "centre" : folded
        guard let gravity = Gravity.allCases.first(where: { $0.rawValue.lowercased() == names }) else { return nil }
        self.gravity = gravity
    }
}
