public import Pipeline

/// A pipeline written as a list in YAML.
///
/// ```yaml
/// - readFile
/// - decode
/// - resize: {width: 800, height: 600, fit: cover}
/// - sharpen: 0.5
/// - encode: {format: webp, quality: 75}
/// ```
///
/// A stage is written as its name, or as its name with its parameters: a mapping, a list of values in their order, or
/// one value. A composite has its stages under `stages`, or instead of parameters. The list may stand under
/// `pipeline:`.
public struct PipelineDocument: Sendable {
    private let name: String
    private let list: [YAMLNode]

    /// Reads a text.
    /// - Parameters:
    ///   - text: The YAML.
    ///   - name: The file's name, for errors.
    /// - Throws: `LoadError` with `LoadError.Code.invalidPipeline`, with line and column.
    public init(_ text: String, name: String = "pipeline") throws(LoadError) {
        self.name = name
        guard var root = try YAMLDocument.root(of: text, name: name) else {
            throw YAMLDocument.error(name, 1, 1, "The file is empty; write a list of stages.")
        }
        if case .mapping(let pairs) = root.content {
            guard pairs.count == 1, pairs[0].key.text == "pipeline" else {
                throw YAMLDocument.error(
                    name, root.line, root.column, "This is a mapping; write a list of stages, or one under pipeline:.")
            }
            root = pairs[0].value
        }
        guard case .sequence(let list) = root.content else {
            throw YAMLDocument.error(name, root.line, root.column, "This is \(root.kind); write a list of stages.")
        }
        self.list = list
    }

    /// Makes the pipeline.
    /// - Parameters:
    ///   - catalog: The stages that the file may name.
    ///   - clock: The clock of the pipeline's loads; by default that of its caches.
    /// - Throws: `LoadError` with `LoadError.Code.invalidPipeline`, with line, column and the nearest right
    ///   name; or with `stageContract`, with line and column, if a stage could never run.
    public func pipeline(_ catalog: StageCatalog, clock: (any LoadClock)? = nil) throws -> ImagePipeline {
        let chain = try chain(list, catalog)
        if let (problem, path) = chain.located {
            let node = node(at: path[...], in: list)
            throw LoadError(.stageContract, subject: "\(printable(name)):\(node.line):\(node.column)", problem)
        }
        return try ImagePipeline(validating: chain, clock: clock)
    }

    /// The node of the stage at a path of indices, or of the composite around it that is written here.
    private func node(at path: ArraySlice<Int>, in list: [YAMLNode]) -> YAMLNode {
        guard let index = path.first, list.indices.contains(index) else { return list[0] }
        let node = list[index]
        guard path.count > 1, case .mapping(let pairs) = node.content, let value = pairs.first?.value else {
            return node
        }
        var body = value
        if case .mapping(let parameters) = value.content,
            let stages = parameters.first(where: { $0.key.text == "stages" })
        {
            body = stages.value
        }
        guard case .sequence(let items) = body.content, !items.isEmpty else { return node }
        return self.node(at: path.dropFirst(), in: items)
    }

    private func chain(_ list: [YAMLNode], _ catalog: StageCatalog) throws(LoadError) -> Chain {
        var stages: [any Stage] = []
        for node in list { stages.append(try stage(node, catalog)) }
        return Chain(stages)
    }

    private func stage(_ node: YAMLNode, _ catalog: StageCatalog) throws(LoadError) -> any Stage {
        let (key, value) = try named(node)
        let specification: StageSpecification
        do { specification = try catalog.specification(key.text ?? "") } catch { throw placed(error, at: key) }
        let (given, places, body) = try arguments(of: specification, value, catalog)
        if specification.isComposite, body == nil {
            throw placed(StageMistake("\(specification.name) wraps stages; give it a list of them."), at: key)
        }
        do {
            return try catalog.stage(specification, given, body: body ?? Chain([]))
        } catch let mistake as StageMistake {
            throw placed(mistake, at: mistake.value.map { places[$0] } ?? key)
        } catch let error as LoadError {
            throw placed(StageMistake(error.message), at: key)
        } catch {
            throw placed(StageMistake("\(error)"), at: key)
        }
    }

    /// A stage's name and its value.
    private func named(_ node: YAMLNode) throws(LoadError) -> (key: YAMLNode, value: YAMLNode?) {
        switch node.content {
        case .scalar: return (node, nil)
        case .mapping(let pairs) where pairs.count == 1 && pairs[0].key.text != nil:
            return (pairs[0].key, pairs[0].value)
        default:
            throw placed(
                StageMistake("This is \(node.kind); write a stage's name, or its name, a colon and its parameters."),
                at: node)
        }
    }

    private typealias Arguments = (given: [(name: String?, text: String)], places: [YAMLNode], body: Chain?)

    private func arguments(
        of specification: StageSpecification, _ value: YAMLNode?, _ catalog: StageCatalog
    ) throws(LoadError) -> Arguments {
        var result: Arguments = ([], [], nil)
        switch value?.content {
        case nil: break
        case .scalar(let text):
            // `circle:` without a value.
            if let value, !text.isEmpty {
                result.given = [(nil, text)]
                result.places = [value]
            }
        case .sequence(let items) where specification.isComposite: result.body = try chain(items, catalog)
        case .sequence(let items):
            for item in items {
                result.given.append((nil, try text(item)))
                result.places.append(item)
            }
        case .mapping(let pairs):
            for (key, value) in pairs {
                if specification.isComposite, key.text == "stages" {
                    guard case .sequence(let items) = value.content else {
                        throw placed(StageMistake("stages takes a list."), at: value)
                    }
                    result.body = try chain(items, catalog)
                } else {
                    let (name, value) = (try text(key), try text(value))
                    // `{enlarge}` in YAML is a key without a value.
                    let isFlag = value.isEmpty && specification.parameter(name)?.isFlag == true
                    result.given.append((name, isFlag ? "true" : value))
                    result.places.append(key)
                }
            }
        }
        return result
    }

    private func text(_ node: YAMLNode) throws(LoadError) -> String {
        guard let text = node.text else {
            throw placed(StageMistake("This is \(node.kind); a value is expected."), at: node)
        }
        return text
    }

    private func placed(_ mistake: StageMistake, at node: YAMLNode) -> LoadError {
        YAMLDocument.error(name, node.line, node.column, mistake.message)
    }
}
