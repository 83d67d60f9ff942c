public import Pipeline

/// The stages that files and command lines may name.
///
/// ```swift
/// let catalogue = StageCatalogue.standard(resources).adding(
///     StageSpecification("refuseHost", "Refuses requests to a host.", .required("host", .text)) { host in
///         RefuseHost(host: host)
///     })
/// let pipeline = try PipelineDocument(yaml).pipeline(catalogue)
/// ```
public struct StageCatalog: Sendable {
    /// All stages, by name.
    package let specifications: [StageSpecification]

    /// Makes a catalogue. Of two stages with the same name the later one counts.
    public init(_ specifications: [StageSpecification]) {
        let byName = Dictionary(specifications.map { (NearestName.folded($0.name), $0) }) { $1 }
        self.specifications = byName.values.sorted { $0.name < $1.name }
    }

    /// Returns the catalogue with another stage.
    public func adding(_ specification: StageSpecification) -> StageCatalog {
        StageCatalog(specifications + [specification])
    }

    /// Returns the catalogue with the stages of another one, which replace those with the same names.
    public func adding(_ other: StageCatalog) -> StageCatalog {
        StageCatalog(specifications + other.specifications)
    }

    /// Returns the specification of a stage's name.
    /// - Throws: `StageMistake` with the nearest right name.
    func specification(_ name: String) throws(StageMistake) -> StageSpecification {
        // The names of 0.1.
        switch NearestName.folded(name) {
        case "disklookup": return try specification("lookup")
        case "variantlookup":
            throw StageMistake(
                "There is no stage \(printable(name)) any more. Write results: [decode, downscale, encode: webp], with the "
                    + "stages that make the result.")
        default: break
        }
        if let found = NearestName.exact(name, in: specifications, by: \.name) { return found }
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
        var checked: [String: String] = [:]
        for (index, value) in values.enumerated() {
            let (parameter, text) = try specification.parameter(value, at: index)
            guard let accepted = parameter.accepted(text) else {
                let words = (value.name == nil ? specification.parameters : [parameter])
                    .flatMap { $0.isFlag ? [$0.name] : $0.words }
                let remedy = NearestName.of(text, among: words).map { " Did you mean \($0)?" } ?? ""
                throw StageMistake(
                    "\(specification.name): \(parameter.name) takes \(parameter.kind), not \(printable(text)).\(remedy)",
                    at: index)
            }
            guard checked.updateValue(accepted, forKey: parameter.name) == nil else {
                throw StageMistake("\(specification.name): \(parameter.name) is given twice.", at: index)
            }
        }
        return try specification.make(body, checked)
    }
}

extension StageSpecification {
    /// The parameter that a value is for, and the value's text. A value without a name is a flag's own name, the value
    /// of the parameter at its position, or a word of another parameter.
    func parameter(
        _ value: (name: String?, text: String), at index: Int
    ) throws(StageMistake) -> (ParameterDescription, String) {
        guard let name = value.name else {
            if let flag = parameter(value.text), flag.isFlag { return (flag, "true") }
            let atPlace = index < parameters.count ? parameters[index] : nil
            if let atPlace, atPlace.accepted(value.text) != nil { return (atPlace, value.text) }
            let words = parameters.filter { !$0.words.isEmpty }
            if let found = words.first(where: { $0.accepted(value.text) != nil }) ?? atPlace {
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
    func parameter(_ name: String) -> ParameterDescription? {
        NearestName.exact(name, in: parameters, by: \.name)
    }
}

extension ParameterDescription {
    /// The text if it is acceptable, with a word as it is declared; otherwise `nil`.
    fileprivate func accepted(_ text: String) -> String? {
        let text = NearestName.exact(text, in: words, by: \.self) ?? text
        return accepts(text) ? text : nil
    }
}

/// ``StageCatalog``.
@available(*, deprecated, renamed: "StageCatalog")
public typealias StageCatalogue = StageCatalog
