import ArgumentParser
import Glibc
import Pipeline
import PipelineFile
import PipelineShared
import Stages

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
