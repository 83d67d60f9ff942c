import Pipeline

/// The stages that files and command lines may name.
///
/// ```swift
/// let catalogue = StageCatalogue.standard(resources).adding(
///     StageSpecification("refuseHost", [StageParameter("host", .text, isRequired: true)]) { arguments in
///         RefuseHost(host: arguments.text("host") ?? "")
///     })
/// let pipeline = try PipelineDocument(yaml).pipeline(catalogue)
/// ```
public struct StageCatalogue: Sendable {
    private var byName: [String: StageSpecification] = [:]

    /// Makes a catalogue; of two with one name the later counts.
    public init(_ specifications: [StageSpecification]) {
        for specification in specifications { byName[NearestName.folded(specification.name)] = specification }
    }

    /// The same with another stage.
    public func adding(_ specification: StageSpecification) -> StageCatalogue {
        var catalogue = self
        catalogue.byName[NearestName.folded(specification.name)] = specification
        return catalogue
    }

    /// All stages, by name.
    public var specifications: [StageSpecification] { byName.values.sorted { $0.name < $1.name } }

    /// The stage of a name.
    /// - Throws: `StageMistake` with the nearest right name.
    func specification(_ name: String) throws(StageMistake) -> StageSpecification {
        if let found = byName[NearestName.folded(name)] { return found }
        let names = specifications.map(\.name)
        let remedy =
            NearestName.of(name, among: names).map { "Did you mean \($0)?" }
            ?? "There are \(names.joined(separator: ", "))."
        throw StageMistake("There is no stage \(printable(name)). \(remedy)")
    }

    /// A stage of values that are still text: those without a name come first.
    /// - Throws: `StageMistake`; what the stage's own making throws.
    func stage(
        _ specification: StageSpecification, _ values: [(name: String?, text: String)], body: Chain = Chain([])
    ) throws -> any Stage {
        var checked: [String: StageArguments.Value] = [:]
        for (index, value) in values.enumerated() {
            let parameter = try specification.parameter(value.name, at: index)
            guard let read = parameter.kind.value(of: value.text) else {
                throw StageMistake(
                    "\(specification.name): \(parameter.name) takes \(parameter.kind), not \(printable(value.text)).",
                    at: index)
            }
            guard checked.updateValue(read, forKey: parameter.name) == nil else {
                throw StageMistake("\(specification.name): \(parameter.name) is given twice.", at: index)
            }
        }
        for parameter in specification.parameters where parameter.isRequired && checked[parameter.name] == nil {
            throw StageMistake("\(specification.name) needs \(parameter.name): \(parameter.kind).")
        }
        return try specification.make(StageArguments(checked, body: body))
    }
}

extension StageSpecification {
    fileprivate func parameter(_ name: String?, at index: Int) throws(StageMistake) -> StageParameter {
        guard let name else {
            if index < parameters.count { return parameters[index] }
            let count = parameters.isEmpty ? "no value" : "at most \(parameters.count)"
            throw StageMistake("\(self.name) takes \(count).", at: index)
        }
        let folded = NearestName.folded(name)
        if let found = parameters.first(where: { NearestName.folded($0.name) == folded }) { return found }
        let names = parameters.map(\.name)
        let remedy =
            NearestName.of(name, among: names).map { "Did you mean \($0)?" }
            ?? (names.isEmpty ? "It takes none." : "It takes \(names.joined(separator: ", ")).")
        throw StageMistake("\(self.name) has no parameter \(printable(name)). \(remedy)", at: index)
    }
}
