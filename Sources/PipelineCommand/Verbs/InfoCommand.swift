import ArgumentParser
import Essentials
import Pipeline
import Stages

/// Prints the metadata of images, and their hashes.
struct InfoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "info", "Show image metadata without decoding.",
        """
        --hash decodes each image, reduced to fit 256x256, and adds its ThumbHash (in base64), BlurHash, dominant \
        colours and difference hash: the dHash of Python's ImageHash, 64 bits, of which about 10 at most differ \
        between copies of an image.

        HDR is told as PQ, HLG or a gain map, whose headroom is in stops above white. Results lose it: they have 8 \
        bits a channel.

        -F takes a text with fields: \(InfoField.allCases.map { "{\($0.rawValue)}" }.joined(separator: " ")).

        Examples:
          \(Program.name) info photo.jpg
          \(Program.name) info *.jpg -F '{name}: {w}x{h} {format} {orientation}'
          \(Program.name) info photo.jpg --hash
          \(Program.name) info https://example.com/photo.jpg --json
        """)

    @Argument(help: ArgumentHelp("Files, URLs, or - for standard input.", valueName: "in"), completion: .images)
    var inputs: [String]

    @Option(
        name: .letter("F", "template"), help: ArgumentHelp("Print this text for each image.", valueName: "text"),
        completion: .default, transform: { try FieldText($0) })
    var template: FieldText<InfoField>?

    @Flag(help: "Add placeholders, a hash and dominant colours. ThumbHash, BlurHash and dHash.") var hash = false

    @OptionGroup(title: "Sources and cache") var time: TimeLimitOptions
    @OptionGroup(title: "Sources and cache") var isolation: IsolationOptions
    @OptionGroup(title: "Sources and cache") var addresses: AddressOptions
    @OptionGroup(title: "Sources and cache") var cache: CacheOptions
    @OptionGroup(title: "Messages") var report: ReportOptions

    func validate() throws {
        try inputs.checkStandardInput()
        if template != nil, hash { throw ValidationError("-F and --hash exclude each other; give one.") }
        if template != nil, report.json { throw ValidationError("-F and --json exclude each other; give one.") }
    }

    func run() async throws {
        let responses = cache.responses()
        let client = CachingClient(cache: responses, client: CurlClient(.init(addresses: addresses.policy)))
        var failures = 0
        for input in inputs {
            do {
                let (metadata, hashes) = try await found(of: input, client)
                let text = template?.parts.filled { $0.text(input, metadata) } ?? metadata.text(input)
                Report(info: input, metadata, hashes, hashes.map { "\(text)\n\($0.text)" } ?? text)
                    .write(asJSON: report.json)
            } catch let error as LoadError {
                failures += 1
                Report(info: input, nil, error: error).show(report)
            }
        }
        if inputs.contains(where: { $0.hasScheme }) { await responses.close() }
        if failures > 0 { throw ExitCode(1) }
    }

    private func found(of input: String, _ client: CachingClient) async throws -> (ImageMetadata, ImageHashes?) {
        try await Job(reading: input).naming {
            let limits = time.limits
            DecodingProcesses.begin(limits)
            let bytes = try await bytes(of: input, client)
            let time = WorkTime(limit: limits.time)
            let metadata = try await ImageMetadata(of: bytes, codecs: Formats.codecs, limits: limits, time: time)
            return (metadata, hash ? try await ImageHashes(of: bytes, limits, after: time.used) : nil)
        }
    }

    private func bytes(of input: String, _ client: CachingClient) async throws -> [UInt8] {
        if input == "-" {
            return try await BlockingThreads.files.run { try StandardStream.readInput(limit: 64_000_000, $0) }
        }
        let source = try ImageSource(argument: input)
        guard case .url(let url) = source else { return try await source.response().encoded?.bytes ?? [] }
        let response = try await client.send(CachingRequest(url: url))
        guard 200..<300 ~= response.status else { throw response.failure(of: source.redacted) }
        return response.body
    }
}
