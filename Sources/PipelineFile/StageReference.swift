package import Pipeline

/// The reference of a catalogue's stages, as text for a terminal, as a man page and as a page of documentation.
package struct StageReference {
    /// How the reference is written.
    package enum Form: String, CaseIterable, Sendable { case text, man, markdown }

    private let sections: [(title: String, stages: [StageSpecification])]

    /// Describes all stages of a catalogue.
    package init(_ catalog: StageCatalog) {
        let transforms = Set(StageCatalog.operations.specifications.map(\.name))
        let all = catalog.specifications
        sections = [
            ("Stages", all.filter { !$0.isComposite && !transforms.contains($0.name) }),
            ("Transforms", all.filter { transforms.contains($0.name) }), ("Composites", all.filter(\.isComposite)),
        ]
    }

    /// Describes one stage.
    /// - Throws: `LoadError` with `LoadError.Code.invalidPipeline` and the nearest right name.
    package init(_ name: String, in catalog: StageCatalog) throws(LoadError) {
        do { sections = [("", [try catalog.specification(name)])] } catch {
            throw LoadError(.invalidPipeline, subject: "", error.message)
        }
    }

    private static let syntax = [
        "A pipeline is a list of stages in YAML. A stage is its name, or its name with its parameters: a mapping, a list of "
            + "values in their order, or one value. A composite lists the stages it wraps under the key stages.",
        "Transforms can also be written on one line: commas separate them, and colons their values.",
        "A value needs no name if it stands at its parameter's position, or is a word of one of the later parameters. "
            + "The name of a flag alone sets it. Case, hyphens and underscores in names don't matter.",
    ]

    /// Returns the reference in a form.
    /// - Parameters:
    ///   - version: The program's version, for the man page.
    ///   - program: The name of the program that has the stages.
    package func written(as form: Form, version: String = "", program: String = "pipectl") -> String {
        let lines =
            switch form {
            case .text: text
            case .man: manual(version, program)
            case .markdown: markdown(program)
            }
        return lines.joined(separator: "\n")
    }

    private var text: [String] {
        var lines: [String] = []
        for section in sections {
            if !section.title.isEmpty { lines += [section.title.uppercased(), ""] }
            for stage in section.stages {
                lines.append("\(stage.name): \(stage.summary)")
                for example in stage.examples { lines.append("  \(example)") }
                for parameter in stage.parameters { lines.append("    \(parameter.name): \(parameter.explanation)") }
                lines.append("")
            }
        }
        return lines.dropLast()
    }

    private func markdown(_ program: String) -> [String] {
        var lines = [
            "# Stages by name", "", "The stages that a list can name, with their parameters.", "", "## Overview",
        ]
        for paragraph in Self.syntax { lines += ["", paragraph] }
        lines += ["", "`\(program) help stages` prints this reference."]
        for section in sections {
            lines += ["", "## \(section.title)"]
            for stage in section.stages {
                lines += ["", "### \(stage.name)", "", stage.summary, "", "```yaml", stage.yamlExample, "```"]
                if let line = stage.lineExample { lines += ["", "On one line: `\(line)`"] }
                guard !stage.parameters.isEmpty else { continue }
                lines += ["", "| Parameter | Value | Default | Meaning | Example |", "|---|---|---|---|---|"]
                for parameter in stage.parameters {
                    let standard = parameter.isRequired ? "required" : parameter.standard ?? ""
                    let cells = [
                        "`\(parameter.name)`", parameter.kind, standard, parameter.summary,
                        "`\(parameter.example)`",
                    ]
                    lines.append("| " + cells.joined(separator: " | ") + " |")
                }
            }
        }
        return lines
    }

    private func manual(_ version: String, _ program: String) -> [String] {
        func escaped(_ text: String) -> String {
            text.replacing("\\", with: "\\e").replacing("-", with: "\\-").replacing("'", with: "\\(aq")
        }
        let name = escaped(program)
        var lines = [".TH \(name.uppercased())\\-PIPELINE 5 \"\" \"\(program) \(version)\"", ".SH NAME"]
        lines += ["\(name)\\-pipeline \\- lists of stages for \(name)", ".SH DESCRIPTION"]
        for (index, paragraph) in Self.syntax.enumerated() {
            lines += (index == 0 ? [] : [".PP"]) + [escaped(paragraph)]
        }
        for section in sections {
            lines.append(".SH \(section.title.uppercased())")
            for stage in section.stages {
                lines += [".SS \(stage.name)", escaped(stage.summary), ".PP", ".nf"]
                for example in stage.examples { lines.append("\\&  " + escaped(example)) }
                lines.append(".fi")
                for parameter in stage.parameters {
                    lines += [".TP", "\\fB\(parameter.name)\\fR", escaped(parameter.explanation)]
                }
            }
        }
        return lines + [".SH SEE ALSO", "\\fB\(name)\\-run\\fR(1), \\fB\(name)\\-plan\\fR(1)"]
    }
}

extension StageSpecification {
    /// The example as values, with the parameters that they are for.
    private var exampleValues: [(name: String, text: String)] {
        guard let example else { return parameters.filter(\.isRequired).map { ($0.name, $0.example) } }
        return example.split(separator: ":").enumerated().compactMap { index, part in
            let pair = part.split(separator: "=", maxSplits: 1).map(String.init)
            if pair.count == 2 { return (pair[0], pair[1]) }
            return (try? parameter((nil, pair[0]), at: index)).map { ($0.0.name, $0.1) }
        }
    }

    /// The example as an item of a list in YAML.
    package var yamlExample: String {
        if isComposite, let example, example.first == "[" { return "- \(name): \(example)" }
        var pairs = exampleValues.map { name, text in
            // A number sign begins a comment.
            let value = text.first == "#" ? "\"\(text)\"" : text
            return "\(name): \(value)"
        }
        if isComposite, pairs.isEmpty { return "- \(name): [fetch]" }
        if isComposite { pairs.append("stages: [fetch]") }
        return pairs.isEmpty ? "- \(name)" : "- \(name): {\(pairs.joined(separator: ", "))}"
    }

    /// The example as ``OperationList`` reads it; `nil` for stages that it doesn't know.
    package var lineExample: String? {
        guard StageCatalog.operations.specifications.contains(where: { $0.name == name }) else { return nil }
        let values = example ?? exampleValues.map(\.text).joined(separator: ":")
        return values.isEmpty ? name : "\(name)=\(values)"
    }

    fileprivate var examples: [String] { [yamlExample] + (lineExample.map { [$0] } ?? []) }
}

extension ParameterDescription {
    /// What it does and what its value has to be, in a line.
    fileprivate var explanation: String {
        let standard = isRequired ? ", required" : standard.map { ", by default \($0)" } ?? ""
        return "\(summary) Value: \(kind)\(standard). Example: \(example)."
    }
}
