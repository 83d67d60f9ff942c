import Glibc

/// What is fuzzed; the environment variable `FUZZ_TARGET` names it.
enum FuzzTarget: String, CaseIterable {
    /// Which format a file's bytes say that they are.
    case sniffing
    /// What a file's header says of the picture, by each decoder, and whether the limits let it pass.
    case headers
    /// A file through header, limits and pixels, whole or reduced, by each decoder.
    case decode
    /// A file decoded, transformed, encoded and read again.
    case chain
    /// A file without its metadata, which has the same pixels.
    case strip
    /// `data:` URLs.
    case dataURLs = "data-urls"
    /// What a row of the stored responses holds.
    case rows
    /// Fields of HTTP: dates, Cache-Control, ranges, tags.
    case http
    /// Pipelines in YAML.
    case yaml

    /// The one that was asked for.
    static let chosen: FuzzTarget = {
        guard let name = getenv("FUZZ_TARGET"), let target = FuzzTarget(rawValue: String(cString: name)) else {
            print("Set FUZZ_TARGET to one of \(allCases.map(\.rawValue).joined(separator: ", ")).")
            exit(2)
        }
        return target
    }()

    /// Whether its inputs are image files.
    var readsImages: Bool { [.sniffing, .headers, .decode, .chain, .strip].contains(self) }

    /// Whether half of its inputs are changed along their structure: image files, unless `FUZZ_PLAIN` is set.
    static let followsStructure = chosen.readsImages && getenv("FUZZ_PLAIN") == nil

    /// Takes an input. Whatever it is, there is a result or an error; what should hold and does not stops the program.
    func take(_ bytes: [UInt8]) {
        switch self {
        case .sniffing: ImageFuzzing.sniff(bytes)
        case .headers: ImageFuzzing.readHeader(bytes)
        case .decode: DecodeFuzzing.decode(bytes)
        case .chain: DecodeFuzzing.chain(bytes)
        case .strip: DecodeFuzzing.strip(bytes)
        case .dataURLs: TextFuzzing.readDataURL(bytes)
        case .rows: RowFuzzing.decode(bytes)
        case .http: TextFuzzing.readFields(bytes)
        case .yaml: TextFuzzing.readPipeline(bytes)
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

/// Changes an input; called by libFuzzer. Half of the files that have a structure are changed along it.
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
