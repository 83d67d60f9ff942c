import FoundationEssentials
import Pipeline
import PipelineFile

/// An option whose default a user may set in a file, or in the environment, which overrides the file.
struct Setting: Sendable {
    /// The option's name without the dashes.
    let name: String
    /// Whether it takes no value.
    var isFlag = false
    /// Whether it is a flag with an opposite, `--no-` and its name.
    var hasOpposite = false
    /// Whether it ranks below a result's name, and is ignored for formats that have no use for it.
    var isForEncoding = false

    /// All settings. Options that exclude others can't be set.
    static let all = [
        Setting(name: "allow-truncated", isFlag: true), Setting(name: "blobs"), Setting(name: "cache-dir"),
        Setting(name: "color"),
        Setting(name: "effort", isForEncoding: true), Setting(name: "format", isForEncoding: true),
        Setting(name: "frames"), Setting(name: "isolate", isFlag: true, hasOpposite: true), Setting(name: "jobs"),
        Setting(name: "lossless", isFlag: true, isForEncoding: true),
        Setting(name: "max-bytes", isForEncoding: true),
        Setting(name: "max-pixels"), Setting(name: "max-side"), Setting(name: "max-source-bytes"),
        Setting(name: "memory"), Setting(name: "metadata"), Setting(name: "policy"),
        Setting(name: "progressive", isFlag: true, isForEncoding: true), Setting(name: "public-only", isFlag: true),
        Setting(name: "quality", isForEncoding: true), Setting(name: "shared"),
    ]

    /// The variable that sets it, such as `PIPECTL_CACHE_DIR`.
    var variable: String { Program.variablePrefix + name.uppercased().replacing("-", with: "_") }

    /// Warns of variables that look like settings and are none.
    static func warnOfUnknownVariables() {
        let known = Set(all.map(\.variable) + [Program.variablePrefix + "CONFIG"])
        let given = ProcessInfo.processInfo.environment.keys.filter { $0.hasPrefix(Program.variablePrefix) }
        for name in given.sorted() where !known.contains(name) {
            let remedy = NearestName.of(name, among: known.sorted()).map { " Did you mean \($0)?" } ?? ""
            StandardError.warn("\(printable(name)) is set, and there is no such setting.\(remedy)")
        }
    }

    /// The option that passes it to a verb.
    var option: String { isForEncoding ? "--default-\(name)" : "--\(name)" }
}
