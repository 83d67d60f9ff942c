import ArgumentParser
import Pipeline
import Stages

/// Decides where each source's result goes and in which format, and refuses results that would overwrite each other.
struct OutputPlanner {
    private enum Place {
        case standardOutput
        case besideSource
        case pattern(OutputPattern)
    }

    private let place: Place
    private let format: ImageFormat?
    private let standardFormat: ImageFormat?

    /// - Parameters:
    ///   - output: A file, a folder, `-`, or a pattern; `nil` only in place.
    ///   - format: The value of `-f`.
    ///   - standardFormat: The user's default, for results whose names don't determine their format.
    ///   - asFolder: Whether a path without fields is a folder even if there is none yet. The folders between the root
    ///     and a source are then made below it.
    ///   - inputs: The number of sources.
    /// - Throws: `ValidationError` if several results would have the same path.
    init(
        output: String?, inPlace: Bool, format: ImageFormat?, standardFormat: ImageFormat? = nil, inputs: Int,
        asFolder: Bool = false
    ) throws {
        let piped = Self.standardOutputFormat(of: output)
        if let piped, let format, format != piped {
            throw ValidationError("-o names \(piped.name), and -f \(format.name); give one.")
        }
        self.format = format ?? piped
        self.standardFormat = standardFormat
        guard let output, !inPlace else {
            guard inPlace else { throw ValidationError("Give -o OUT, or --in-place.") }
            place = .besideSource
            return
        }
        if Self.isStandardOutput(output) {
            if inputs > 1 { throw ValidationError("Standard output takes one image; give one source.") }
            if StandardOutput.isTerminal {
                throw ValidationError("Standard output is a terminal; send the image to a file, or give -o FILE.")
            }
            place = .standardOutput
        } else if !output.contains("{"), asFolder || output.utf8.last == UInt8(ascii: "/") || FileFacts.isFolder(output)
        {
            place = .pattern(try OutputPattern(asFolder ? "{dir}/{name}.{ext}" : "{name}.{ext}", in: output))
        } else {
            let pattern = try OutputPattern(output)
            if inputs > 1, !pattern.tellsSourcesApart {
                throw ValidationError("Several sources need a folder after -o, or a path with {name} or {index} in it.")
            }
            place = .pattern(pattern)
        }
    }

    /// Whether an output is standard output: `-`, or with a format `jpg:-`.
    static func isStandardOutput(_ output: String?) -> Bool {
        output == "-" || standardOutputFormat(of: output) != nil
    }

    /// The format of `jpg:-`.
    private static func standardOutputFormat(of output: String?) -> ImageFormat? {
        guard let output, output.hasSuffix(":-") else { return nil }
        return Formats.codecs.codec(forExtension: output.dropLast(2).lowercased()).flatMap {
            $0.encoder == nil ? nil : $0.format
        }
    }

    /// The folder of all results, if it is known.
    var root: String? {
        if case .pattern(let pattern) = place { pattern.root } else { nil }
    }

    /// Where the result of a source goes.
    /// - Throws: `LoadError` with `unencodable` if the format can't be written.
    func target(_ input: String, _ name: OutputName) throws(LoadError) -> OutputTarget {
        switch place {
        case .standardOutput:
            if let known = format ?? standardFormat {
                return OutputTarget(destination: .standardOutput, format: known)
            }
            let source = try ImageSource(argument: input == "-" ? "data:" : input)
            guard case .file(let path) = source else {
                return OutputTarget(destination: .standardOutput, format: name.format, followsSource: true)
                    .following(source)
            }
            let own = SourceFormat.ofFile(path)?.ofResult ?? name.format
            return OutputTarget(destination: .standardOutput, format: own)
        case .besideSource:
            guard case .file(let path) = try ImageSource(argument: input == "-" ? "data:" : input) else {
                throw LoadError(
                    .unwritable, subject: Self.shown(input), "Only a file can be changed in place; give -o.")
            }
            let sniffed = name.sniffing(input).sniffed.flatMap { $0.isWritable ? $0 : nil }
            let own = if let sniffed { sniffed } else { try writable(name.sourceExtension, of: path) }
            if let format, format != own {
                throw LoadError(
                    .unencodable, subject: printable(path),
                    "--in-place can't write \(format.name) to a file named as \(own.name). Use -o.")
            }
            return OutputTarget(destination: .path(path), format: own)
        case .pattern(let pattern):
            // A chosen format overrides a name, and a name overrides a default.
            let isOpen = pattern.contains(.ext) || pattern.contains(.format)
            let name = format == nil && standardFormat == nil && isOpen ? name.sniffing(input) : name
            let own = isOpen ? standardFormat ?? name.format : nil
            if let known = format ?? own { return OutputTarget(destination: .file(pattern, name), format: known) }
            let path = pattern.path(name, Formats.standard, size: nil)
            let named = try writable(pattern.fileExtension, of: path)
            return OutputTarget(destination: .file(pattern, name), format: named)
        }
    }

    /// The job of each source. If a source's name doesn't tell its format, the file's first bytes are read.
    /// - Parameters:
    ///   - sources: The sources in their order.
    ///   - rule: What happens if results would have the same path; `nil` in verbs without a choice.
    /// - Throws: `ValidationError` if results of different sources would have the same path.
    func jobs(_ sources: [BatchSource], onCollision rule: CollisionRule? = nil) async throws -> [Job] {
        try await BlockingThreads.files.run { _ in
            var paths = OutputPaths()
            if rule == .keepExtension {
                for (row, source) in sources.enumerated() { path(of: source, row: row).map { paths.note($0) } }
                paths.forgetRows()
            }
            return try sources.enumerated().map { row, source in
                do throws(OutputCollision) {
                    return try job(source, row: row, rule, &paths, other: { sources[$0] })
                } catch {
                    throw ValidationError(error.text)
                }
            }
        }
    }

    /// The job of each input; see ``jobs(_:onCollision:)``.
    func jobs(_ inputs: [String], onCollision rule: CollisionRule? = nil) async throws -> [Job] {
        try await jobs(inputs.map { BatchSource(input: $0, folder: OutputName.folder(of: $0)) }, onCollision: rule)
    }

    private func writable(_ fileExtension: String?, of path: String) throws(LoadError) -> ImageFormat {
        guard let codec = fileExtension.flatMap({ Formats.codecs.codec(forExtension: $0) }), codec.encoder != nil else {
            let names = Formats.words(Formats.writable, "or")
            throw LoadError(
                .unencodable, subject: printable(path),
                "The extension names no format that can be written; use \(names), or give -f.")
        }
        return codec.format
    }

    static func shown(_ input: String) -> String {
        (try? ImageSource(parsing: input).redacted) ?? printable(input)
    }
}
