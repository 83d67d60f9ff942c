import ArgumentParser
import Glibc
import Pipeline
import Stages

/// Loads images through a policy's pipeline, caches and all.
struct LoadCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "load",
        abstract: "Load images through a policy's pipeline, caches and all.",
        discussion: """
            A source is an http or https URL, a data URL, a file, or - for standard input. The output's format follows
            its extension; - is standard output, as PNG. For several sources the output is a folder, or a path with
            {name} in it.

            Examples:
              pipectl load https://example.com/photo.jpg -o photo.webp --max-pixel-size 640
              pipectl load *.jpg -o thumbnails/ --max-pixel-size 300x200
              pipectl load https://example.com/photo.jpg --policy returnCacheDontLoad --json
              cat photo.jpg | pipectl load - -o - --max-pixel-size 100 > small.png
            """)

    @Argument(help: ArgumentHelp("URLs, files, or - for standard input.", valueName: "source"))
    var sources: [String]

    @Option(name: [.short, .long], help: ArgumentHelp("A file, a folder, or - for standard output.", valueName: "out"))
    var output: String?

    @Option(help: ArgumentHelp("The box that the image has to fit. (default: the source's size)", valueName: "n|wxh"))
    var maxPixelSize: PixelSize?

    @OptionGroup var policy: PolicyOptions

    @Option(help: ArgumentHelp("Know the image by this in the caches, instead of by its URL.", valueName: "id"))
    var identifier: String?

    @Option(help: ArgumentHelp("Keep the image fresh for this long, whatever its server says.", valueName: "seconds"))
    var expireAfter: Double?

    @OptionGroup var addresses: AddressOptions

    @OptionGroup var cache: CacheOptions

    @Flag(help: "Show what happened, stage by stage, on standard error.")
    var trace = false

    @Flag(help: "Print an object on a line for each load.")
    var json = false

    func validate() throws {
        if let expireAfter, !(0...1e10).contains(expireAfter) {
            throw ValidationError("--expire-after takes seconds from 0 to 10000000000, not \(expireAfter).")
        }
        if sources.count > 1 {
            if identifier != nil { throw ValidationError("--identifier names one image; give one source.") }
            if sources.filter({ $0 == "-" }).count > 1 { throw ValidationError("Standard input can be read once.") }
            if let output, output != "-", !output.contains("{name}"), !isFolder(output) {
                throw ValidationError("Several sources need a folder after -o, or a path with {name} in it.")
            }
            if output == "-" { throw ValidationError("Standard output takes one image; give one source.") }
        }
        if output == "-", json { throw ValidationError("--json and -o - would both write to standard output.") }
    }

    func run() async throws {
        let resources = cache.resources(addresses.policy)
        let plans = try planned()
        let failures = try await withThrowingTaskGroup(of: Bool.self) { group in
            var waiting = plans[...]
            var failures = 0
            for _ in 0..<4 { if let next = waiting.popFirst() { group.addTask { try await load(next, resources) } } }
            while let succeeded = try await group.next() {
                if !succeeded { failures += 1 }
                if let next = waiting.popFirst() { group.addTask { try await load(next, resources) } }
            }
            return failures
        }
        // An image that was given stale is refreshed beside; what is under way is finished.
        await resources.flights.drain()
        await resources.responses.close()
        if failures > 0 { throw ExitCode(1) }
    }

    private typealias Planned = (input: String, plan: Result<OutputPlan, LoadError>)

    /// Where each result goes; refuses before any work what would overwrite another.
    private func planned() throws -> [Planned] {
        let folder = output.map(isFolder) ?? false
        var taken: [String: String] = [:]
        return try sources.map { input in
            let plan = Result { () throws(LoadError) in
                try OutputPlan(output: output, input: input, isFolder: folder)
            }
            if case .success(let plan) = plan, case .file(let path) = plan.destination {
                if let other = taken[path] {
                    throw ValidationError("\(other) and \(input) would both be written to \(path).")
                }
                taken[path] = input
            }
            return (input, plan)
        }
    }

    private func load(_ planned: Planned, _ resources: PipelineResources) async throws -> Bool {
        let (input, plan) = planned
        var output: String?
        do {
            let plan = try plan.get()
            output = plan.name
            let response = try await response(input, plan, resources)
            report(input, plan, response)
            return true
        } catch let error as LoadError {
            report(input, output, error)
            return false
        }
    }

    private func response(
        _ input: String, _ plan: OutputPlan, _ resources: PipelineResources
    ) async throws -> LoadResponse {
        var pipeline = policy.cachePolicy.pipeline(resources)
        if let format = plan.format { pipeline = pipeline.inserting(Encode(format), before: Store.self) }
        var request = ImageRequest(
            try await source(input, limit: resources.limits.encodedBytes), identifier: identifier,
            maxPixelSize: maxPixelSize)
        if let expireAfter { request.expiry = .after(.seconds(expireAfter)) }

        let progress = ProgressLine(request.source.redacted)
        defer { progress?.clear() }
        let response = try await pipeline.load(request) { progress?.show($0) }
        guard let bytes = response.encoded?.bytes else { return response }
        switch plan.destination {
        case .nowhere: break
        case .standardOutput:
            try await BlockingThreads.files.run { _ in StandardStream.write(bytes, to: STDOUT_FILENO) }
        case .file(let path): try await BlockingThreads.files.run { _ in try OutputFile(path).write(bytes) }
        }
        return response
    }

    private func source(_ input: String, limit: Int) async throws -> ImageSource {
        guard input == "-" else { return try ImageSource(parsing: input) }
        return .bytes(try await BlockingThreads.files.run { _ in StandardStream.readInput(limit: limit) })
    }

    private func report(_ input: String, _ plan: OutputPlan, _ response: LoadResponse) {
        if trace { StandardError.write("\(response.trace)\n") }
        if json {
            if let line = try? LoadReport(input: input, output: plan.name, response: response).line() { print(line) }
        } else if case .standardOutput = plan.destination {
            return
        } else {
            let size = response.size.map { "\($0)" } ?? ""
            let native = response.nativeSize.map { $0 == response.size ? "" : " of \($0)" } ?? ""
            let target = plan.name.map { " → \($0)" } ?? ""
            print("\(displayed(input))\(target): \(size)\(native), \(response.source.rawValue)")
        }
    }

    private func report(_ input: String, _ output: String?, _ error: LoadError) {
        if trace { StandardError.write("\(error.trace)\n") }
        if json, let line = try? LoadReport(input: input, output: output, error: error).line() { print(line) }
        if !json { StandardError.write("pipectl: \(error)\n") }
    }

    private func displayed(_ input: String) -> String {
        input == "-" ? "standard input" : (try? ImageSource(parsing: input).redacted) ?? input
    }

    private func isFolder(_ path: String) -> Bool {
        var status = stat()
        return path.hasSuffix("/") || (stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR)
    }
}
