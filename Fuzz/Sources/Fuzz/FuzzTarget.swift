import Glibc

/// What is fuzzed; the environment's `FUZZ_TARGET` names it.
enum FuzzTarget: String, CaseIterable {
    /// Which format a file's bytes say that they are.
    case sniffing
    /// What a file's header says of the picture, by each decoder, and whether the limits let it pass.
    case headers
    /// `data:` URLs.
    case dataURLs = "data-urls"
    /// What a row of the stored responses holds.
    case rows
    /// Fields of HTTP: dates, Cache-Control, ranges, tags.
    case http

    /// The one that was asked for.
    static let chosen: FuzzTarget = {
        guard let name = getenv("FUZZ_TARGET"), let target = FuzzTarget(rawValue: String(cString: name)) else {
            print("Set FUZZ_TARGET to one of \(allCases.map(\.rawValue).joined(separator: ", ")).")
            exit(2)
        }
        return target
    }()

    /// Takes an input. Whatever it is, there is a result or an error; what should hold and does not stops the program.
    func take(_ bytes: [UInt8]) {
        switch self {
        case .sniffing: ImageFuzzing.sniff(bytes)
        case .headers: ImageFuzzing.readHeader(bytes)
        case .dataURLs: TextFuzzing.readDataURL(bytes)
        case .rows: RowFuzzing.decode(bytes)
        case .http: TextFuzzing.readFields(bytes)
        }
    }
}

/// What libFuzzer calls.
@_cdecl("LLVMFuzzerTestOneInput")
public func takeInput(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    FuzzTarget.chosen.take(Array(UnsafeBufferPointer(start: data, count: count)))
    return 0
}
