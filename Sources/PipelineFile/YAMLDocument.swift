package import Pipeline

#if YAML
import CYAML
#endif

/// One YAML document, read by libyaml.
package enum YAMLDocument {
    /// The most nodes of a document. A few lines with aliases could otherwise expand to any number.
    fileprivate static let mostNodes = 10_000
    fileprivate static let deepest = 64
    /// The most bytes of a document. libyaml's time grows with the square of a scalar's length.
    package static let mostBytes = 256 << 10

    /// Reads a text.
    /// - Parameter name: The file's name, for errors.
    /// - Returns: The document's root; `nil` if the text is empty.
    /// - Throws: `LoadError` with `invalidPipeline`, with line and column.
    package static func root(of text: String, name: String) throws(LoadError) -> YAMLNode? {
        let bytes = Array(text.utf8)
        guard bytes.count <= mostBytes else {
            throw error(name, 1, 1, "The file has more than \(mostBytes) bytes. Write a shorter one.")
        }
        #if YAML
        try check(bytes, name)
        var document = yaml_document_t()
        try parsing(bytes, name) { parser throws(LoadError) in
            guard yaml_parser_load(&parser, &document) == 1 else { throw problem(of: parser, name) }
        }
        defer { yaml_document_delete(&document) }
        guard let root = yaml_document_get_root_node(&document) else { return nil }
        var count = 0
        return try node(root.pointee, &document, depth: 0, &count, name)
        #else
        throw error(name, 1, 1, "This program was built without YAML: the package's trait YAML is off.")
        #endif
    }

    /// An error with its location.
    package static func error(_ name: String, _ line: Int, _ column: Int, _ message: String) -> LoadError {
        LoadError(.invalidPipeline, subject: "\(printable(name)):\(line):\(column)", message)
    }
}

#if YAML
extension YAMLDocument {
    /// Runs `body` with a parser of the bytes.
    private static func parsing(
        _ bytes: [UInt8], _ name: String, _ body: (inout yaml_parser_t) throws(LoadError) -> Void
    ) throws(LoadError) {
        var parser = yaml_parser_t()
        guard yaml_parser_initialize(&parser) == 1 else { throw error(name, 1, 1, "There is no memory to read it.") }
        defer { yaml_parser_delete(&parser) }
        // The parser keeps the address of its input between calls.
        try bytes.withUnsafeBufferPointer { bytes throws(LoadError) in
            yaml_parser_set_input_string(&parser, bytes.baseAddress, bytes.count)
            try body(&parser)
        }
    }

    /// Checks a document's depth and number of values while it is read. Each open bracket delays libyaml's every further
    /// step, so 40 KB of brackets would take a second before ``node(_:_:depth:_:_:)`` could refuse them.
    private static func check(_ bytes: [UInt8], _ name: String) throws(LoadError) {
        try parsing(bytes, name) { parser throws(LoadError) in
            var (depth, count) = (0, 0)
            while true {
                var event = yaml_event_t()
                guard yaml_parser_parse(&parser, &event) == 1 else { throw problem(of: parser, name) }
                defer { yaml_event_delete(&event) }
                let (line, column) = (Int(event.start_mark.line) + 1, Int(event.start_mark.column) + 1)
                switch event.type {
                case YAML_DOCUMENT_END_EVENT, YAML_STREAM_END_EVENT: return
                case YAML_SEQUENCE_END_EVENT, YAML_MAPPING_END_EVENT: depth -= 1
                case YAML_SEQUENCE_START_EVENT, YAML_MAPPING_START_EVENT, YAML_SCALAR_EVENT, YAML_ALIAS_EVENT:
                    count += 1
                    guard depth < deepest else { throw error(name, line, column, "This is nested too deep.") }
                    guard count < mostNodes else { throw error(name, line, column, "The file has too many values.") }
                    if event.type != YAML_SCALAR_EVENT, event.type != YAML_ALIAS_EVENT { depth += 1 }
                default: break
                }
            }
        }
    }

    private static func problem(of parser: yaml_parser_t, _ name: String) -> LoadError {
        let problem = parser.problem.map { String(cString: $0) } ?? "it is not UTF-8"
        let mark = parser.problem_mark
        return error(name, Int(mark.line) + 1, Int(mark.column) + 1, "This is not YAML: \(problem).")
    }

    private static func node(
        _ node: yaml_node_t, _ document: inout yaml_document_t, depth: Int, _ count: inout Int, _ name: String
    ) throws(LoadError) -> YAMLNode {
        let (line, column) = (Int(node.start_mark.line) + 1, Int(node.start_mark.column) + 1)
        count += 1
        guard depth < deepest else { throw error(name, line, column, "This is nested too deep.") }
        guard count < mostNodes else { throw error(name, line, column, "The file has too many values.") }
        func child(_ index: Int32, _ count: inout Int) throws(LoadError) -> YAMLNode {
            guard let found = yaml_document_get_node(&document, index) else {
                throw error(name, line, column, "This names nothing.")
            }
            return try Self.node(found.pointee, &document, depth: depth + 1, &count, name)
        }
        switch node.type {
        case YAML_SEQUENCE_NODE:
            var items: [YAMLNode] = []
            var item = node.data.sequence.items.start
            while let current = item, current != node.data.sequence.items.top {
                items.append(try child(current.pointee, &count))
                item = current + 1
            }
            return YAMLNode(content: .sequence(items), line: line, column: column)
        case YAML_MAPPING_NODE:
            var pairs: [(key: YAMLNode, value: YAMLNode)] = []
            var pair = node.data.mapping.pairs.start
            while let current = pair, current != node.data.mapping.pairs.top {
                pairs.append((try child(current.pointee.key, &count), try child(current.pointee.value, &count)))
                pair = current + 1
            }
            return YAMLNode(content: .mapping(pairs), line: line, column: column)
        default:
            let value = UnsafeBufferPointer(start: node.data.scalar.value, count: node.data.scalar.length)
            return YAMLNode(
                content: .scalar(String(decoding: value, as: UTF8.self)), line: line, column: column)
        }
    }
}
#endif
