public import Pipeline

/// Transforms written on one line: `resize=800:600:fit=cover,sharpen=0.5`.
///
/// Commas separate the stages, and colons their values. A value has its parameter's name before it, or stands at its
/// parameter's position.
package struct OperationList: Sendable {
    /// The transforms in their order.
    package let chain: Chain

    /// Reads a line.
    /// - Parameters:
    ///   - text: The line.
    ///   - catalog: The stages that the line may name; by default ``StageCatalog/operations``.
    /// - Throws: `LoadError` with `LoadError.Code.invalidPipeline`, with the column and the nearest right name.
    package init(_ text: String, catalog: StageCatalog = .operations) throws(LoadError) {
        var stages: [any Stage] = []
        var column = 1
        for operation in text.split(separator: ",", omittingEmptySubsequences: false) {
            stages.append(try Self.stage(operation, column, catalog))
            column += operation.count + 1
        }
        chain = Chain(stages)
    }

    private static func stage(
        _ text: Substring, _ column: Int, _ catalog: StageCatalog
    ) throws(LoadError) -> any Stage {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let name = String(parts[0]).trimmed
        var values: [(name: String?, text: String)] = []
        var columns: [Int] = []
        var start = column + parts[0].count + 1
        for value in parts.count > 1 ? parts[1].split(separator: ":", omittingEmptySubsequences: false) : [] {
            let pair = value.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            values.append((pair.count == 2 ? String(pair[0]).trimmed : nil, String(pair[pair.count - 1]).trimmed))
            columns.append(start)
            start += value.count + 1
        }
        do {
            guard !name.isEmpty else { throw StageMistake("A stage's name is missing.") }
            return try catalog.stage(try catalog.specification(name), values)
        } catch let mistake as StageMistake {
            let place = mistake.value.map { columns[$0] } ?? column
            throw LoadError(.invalidPipeline, subject: "--ops, column \(place)", mistake.message)
        } catch let error as LoadError {
            // The subject names the file, if the error is about one.
            let about = error.subject.isEmpty ? "" : "\(error.subject): "
            throw LoadError(.invalidPipeline, subject: "--ops, column \(column)", about + error.message)
        } catch {
            throw LoadError(.invalidPipeline, subject: "--ops, column \(column)", "\(error)")
        }
    }
}

extension String {
    fileprivate var trimmed: String {
        String(drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }
}

extension LoadError.Code {
    /// A list of stages from a file or a command line is invalid.
    public static let invalidPipeline = LoadError.Code(rawValue: "invalidPipeline")
}
