import Glibc

/// The code to fuzz, named by the environment variable `FUZZ_TARGET`.
enum FuzzTarget: String, CaseIterable {
    /// Recognizing the format of a file.
    case sniffing
    /// Reading a file's header with each decoder, and checking the limits.
    case headers
    /// Decoding a file, whole or reduced, with each decoder.
    case decode
    /// Decoding a file, transforming it, encoding it and reading it again.
    case chain
    /// Removing a file's metadata, which leaves its pixels alone.
    case strip
    /// Reading the messages of a worker that was taken over.
    case isolation
    /// Parsing `data:` URLs.
    case dataURLs = "data-urls"
    /// Decoding a row of the stored responses.
    case rows
    /// Reading what a Redis server replies, in every way that a fleet does.
    case fleet
    /// Parsing HTTP fields: dates, Cache-Control, ranges, entity tags.
    case http
    /// Reading pipelines in YAML.
    case yaml
    /// Counting what an SVG costs, and replacing the pictures in it.
    case svg
    /// Finding the codestream in a JPEG XL file.
    case jxl
    /// Drawing placeholders from hashes.
    case placeholders
    /// Reading the paths and the fields that an image server gets.
    case paths

    /// The target in `FUZZ_TARGET`.
    static let chosen: FuzzTarget = {
        guard let name = getenv("FUZZ_TARGET"), let target = FuzzTarget(rawValue: String(cString: name)) else {
            print("Set FUZZ_TARGET to one of \(allCases.map(\.rawValue).joined(separator: ", ")).")
            exit(2)
        }
        return target
    }()

    /// Whether its inputs are image files.
    var readsImages: Bool { [.sniffing, .headers, .decode, .chain, .strip].contains(self) }

    /// Whether half of the inputs are mutated along their structure: those that are image files, unless `FUZZ_PLAIN` is
    /// set.
    static let followsStructure = chosen.readsImages && getenv("FUZZ_PLAIN") == nil

    /// Runs one input. Any result or error is allowed; a violated invariant stops the program.
    func take(_ bytes: [UInt8]) {
        switch self {
        case .sniffing: ImageFuzzing.sniff(bytes)
        case .headers: ImageFuzzing.readHeader(bytes)
        case .decode: DecodeFuzzing.decode(bytes)
        case .chain: DecodeFuzzing.chain(bytes)
        case .strip: DecodeFuzzing.strip(bytes)
        case .isolation: IsolationFuzzing.read(bytes)
        case .dataURLs: TextFuzzing.readDataURL(bytes)
        case .rows: RowFuzzing.decode(bytes)
        case .fleet: FleetFuzzing.read(bytes)
        case .http: TextFuzzing.readFields(bytes)
        case .yaml: TextFuzzing.readPipeline(bytes)
        case .svg: SVGFuzzing.read(bytes)
        case .jxl: SVGFuzzing.findCodestream(bytes)
        case .placeholders: ImageFuzzing.drawPlaceholders(bytes)
        case .paths: PathFuzzing.read(bytes)
        }
    }
}

/// Runs one input; called by libFuzzer.
@_cdecl("LLVMFuzzerTestOneInput")
public func takeInput(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    FuzzTarget.chosen.take(Array(UnsafeBufferPointer(start: data, count: count)))
    return 0
}

/// libFuzzer's own mutations.
@_silgen_name("LLVMFuzzerMutate")
private func mutateAnyhow(_ data: UnsafeMutablePointer<UInt8>?, _ count: Int, _ limit: Int) -> Int

/// Mutates an input; called by libFuzzer. Half of the files with a known structure are mutated along it.
@_cdecl("LLVMFuzzerCustomMutator")
public func changeInput(_ data: UnsafeMutablePointer<UInt8>, _ count: Int, _ limit: Int, _ seed: UInt32) -> Int {
    var random = SeededNumbers(seed: UInt64(seed))
    guard FuzzTarget.followsStructure, random.below(2) == 0 else { return mutateAnyhow(data, count, limit) }
    var file = Array(UnsafeBufferPointer(start: data, count: count))
    for _ in 0...random.below(3) {
        guard StructureMutator.mutate(&file, &random) else { return mutateAnyhow(data, count, limit) }
    }
    let changed = file.prefix(limit)
    _ = UnsafeMutableBufferPointer(start: data, count: changed.count).update(fromContentsOf: changed)
    return changed.count
}
