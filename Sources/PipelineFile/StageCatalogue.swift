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

    /// Makes a catalogue. Of two stages with the same name the later one counts.
    public init(_ specifications: [StageSpecification]) {
        for specification in specifications { byName[NearestName.folded(specification.name)] = specification }
    }

    /// Returns the catalogue with another stage.
    public func adding(_ specification: StageSpecification) -> StageCatalogue {
        var catalogue = self
        catalogue.byName[NearestName.folded(specification.name)] = specification
        return catalogue
    }

    /// Returns the catalogue with the stages of another one, which replace those with the same names.
    public func adding(_ other: StageCatalogue) -> StageCatalogue {
        other.specifications.reduce(self) { $0.adding($1) }
    }

    /// All stages, by name.
    public var specifications: [StageSpecification] { byName.values.sorted { $0.name < $1.name } }

    /// Returns the specification of a stage's name.
    /// - Throws: `StageMistake` with the nearest right name.
    func specification(_ name: String) throws(StageMistake) -> StageSpecification {
        if let found = byName[NearestName.folded(name)] { return found }
        let names = specifications.map(\.name)
        let remedy =
            NearestName.of(name, among: names).map { "Did you mean \($0)?" }
            ?? "There are \(names.joined(separator: ", "))."
        throw StageMistake("There is no stage \(printable(name)). \(remedy)")
    }

    /// Makes a stage from values that are still text.
    /// - Throws: `StageMistake`, and what the specification's `make` throws.
    func stage(
        _ specification: StageSpecification, _ values: [(name: String?, text: String)], body: Chain = Chain([])
    ) throws -> any Stage {
        var checked: [String: StageArguments.Value] = [:]
        for (index, value) in values.enumerated() {
            let (parameter, text) = try specification.parameter(value, at: index)
            guard let read = parameter.kind.value(of: text) else {
                let words = specification.words(value.name == nil ? specification.parameters : [parameter])
                let remedy = NearestName.of(text, among: words).map { " Did you mean \($0)?" } ?? ""
                throw StageMistake(
                    "\(specification.name): \(parameter.name) takes \(parameter.kind), not \(printable(text)).\(remedy)",
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
    /// The parameter that a value is for, and the value's text. A value without a name is a flag's own name, the value
    /// of the parameter at its position, or a word of another parameter.
    func parameter(
        _ value: (name: String?, text: String), at index: Int
    ) throws(StageMistake) -> (StageParameter, String) {
        guard let name = value.name else {
            if let flag = parameter(value.text), flag.kind.isFlag { return (flag, "true") }
            let atPlace = index < parameters.count ? parameters[index] : nil
            if let atPlace, atPlace.kind.value(of: value.text) != nil { return (atPlace, value.text) }
            let words = parameters.filter { !$0.kind.words.isEmpty }
            if let found = words.first(where: { $0.kind.value(of: value.text) != nil }) ?? atPlace {
                return (found, value.text)
            }
            let count = parameters.isEmpty ? "no value" : "at most \(parameters.count)"
            throw StageMistake("\(self.name) takes \(count).", at: index)
        }
        if let found = parameter(name) { return (found, value.text) }
        let names = parameters.map(\.name)
        let remedy =
            NearestName.of(name, among: names).map { "Did you mean \($0)?" }
            ?? (names.isEmpty ? "It takes none." : "It takes \(names.joined(separator: ", ")).")
        throw StageMistake("\(self.name) has no parameter \(printable(name)). \(remedy)", at: index)
    }

    /// The parameter with a name.
    func parameter(_ name: String) -> StageParameter? {
        parameters.first { NearestName.folded($0.name) == NearestName.folded(name) }
    }

    fileprivate func words(_ parameters: [StageParameter]) -> [String] {
        parameters.flatMap { $0.kind.isFlag ? [$0.name] : $0.kind.words }
    }
}
