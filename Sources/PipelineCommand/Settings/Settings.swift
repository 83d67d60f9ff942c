import ArgumentParser
import Essentials
import LibC
import Pipeline
import PipelineFile

/// The defaults that a user has set, and where.
struct Settings {
    struct Value: Sendable {
        let setting: Setting
        let text: String
        /// A file with a line, or a variable.
        let origin: String
    }

    let values: [Value]

    /// `$PIPECTL_CONFIG`, or `pipectl/config.yaml` in `$XDG_CONFIG_HOME` or `~/.config`.
    static var path: String {
        if let path = Environment[Program.variablePrefix + "CONFIG"], !path.isEmpty { return path }
        let base = Environment["XDG_CONFIG_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
        return (base ?? (Environment["HOME"] ?? "") + "/.config") + "/\(Program.name)/config.yaml"
    }

    /// Reads the file and the environment.
    /// - Throws: `ValidationError` with the location and the nearest right name.
    init() throws {
        var values = try Self.file()
        for setting in Setting.all {
            guard let text = Environment[setting.variable], !text.isEmpty else { continue }
            values[setting.name] = Value(setting: setting, text: text, origin: setting.variable)
        }
        self.values = values.values.sorted { $0.setting.name < $1.setting.name }
    }

    private static func file() throws -> [String: Value] {
        let path = path
        guard let bytes = try StandardStream.readFile(path, limit: YAMLDocument.mostBytes) else {
            // Without a file there are no settings. A file that can't be read is an error, since it may hold some.
            guard errno != ENOENT, errno != ENOTDIR else { return [:] }
            throw ValidationError("\(printable(path)): The file can't be read: \(String(cString: strerror(errno))).")
        }
        var values: [String: Value] = [:]
        do {
            let text = String(decoding: bytes, as: UTF8.self)
            guard let root = try YAMLDocument.root(of: text, name: printable(path)) else { return [:] }
            guard case .mapping(let pairs) = root.content else {
                throw YAMLDocument.error(
                    path, root.line, root.column, "Write options and their values, such as quality: 75.")
            }
            for (key, value) in pairs {
                guard let name = key.text, let setting = Setting.all.first(where: { $0.name == name }) else {
                    let names = Setting.all.map(\.name)
                    let remedy =
                        NearestName.of(key.text ?? "", among: names).map { "Did you mean \($0)?" }
                        ?? "There are \(names.joined(separator: ", "))."
                    throw YAMLDocument.error(path, key.line, key.column, "There is no such option. \(remedy)")
                }
                guard let text = value.text, !setting.isFlag || ["true", "false"].contains(text) else {
                    throw YAMLDocument.error(
                        path, value.line, value.column, "\(name) takes \(setting.isFlag ? "true or false" : "a value")."
                    )
                }
                values[name] = Value(setting: setting, text: text, origin: "\(path):\(key.line)")
            }
        } catch let error as LoadError {
            throw ValidationError(CommandWords.text(of: error))
        }
        return values
    }

    /// Inserts the settings that the verb knows into a command line: right after the verb, so that later options
    /// override them.
    func applied(to arguments: [String]) -> [String] {
        guard !values.isEmpty else { return arguments }
        let (verb, end) = Verb.named(by: arguments)
        guard end > 0 else { return arguments }
        let inserted = known(to: verb).flatMap { value in
            value.setting.isFlag
                ? (value.text == "true" || value.text == "1"
                    ? [value.setting.option] : value.setting.hasOpposite ? ["--no-\(value.setting.name)"] : [])
                : ["\(value.setting.option)=\(value.text)"]
        }
        return arguments[..<end] + inserted + arguments[end...]
    }

    /// Adds the origin of a value to an error about it, since the option isn't on the command line.
    func explained(_ message: String, for verb: any ParsableCommand.Type) -> String {
        known(to: verb).reduce(message) { message, value in
            guard message.contains("'\(value.setting.option)") || message.contains("setting \(value.setting.name) ")
            else { return message }
            return message.replacing(value.setting.option, with: "--\(value.setting.name)")
                + "\n(\(value.setting.name) is set in \(printable(value.origin)).)"
        }
    }

    private func known(to verb: any ParsableCommand.Type) -> [Value] {
        // Making the help takes longer than all other parsing.
        guard !values.isEmpty else { return [] }
        let options = verb.optionNames
        return values.filter { options.contains($0.setting.option) }
    }
}

extension ParsableCommand {
    /// The long names of the options that the verb has, hidden ones included.
    static var optionNames: Set<String> {
        var names: Set<String> = []
        for line in helpMessage(includeHidden: true, columns: 200).split(separator: "\n") {
            let words = line.split(separator: " ")
            // Descriptions mention options too.
            guard words.first?.hasPrefix("-") == true else { continue }
            for word in words where word.hasPrefix("--") { names.insert(String(word.prefix { $0 != "," })) }
        }
        return names
    }
}

extension Settings: CustomStringConvertible {
    /// A line for each setting with its origin, in the format of the file.
    var description: String {
        // A URL may have a password.
        let lines = values.map {
            "\($0.setting.name): \($0.text.hasScheme ? redactedURL($0.text) : $0.text)  # \($0.origin)"
        }
        let unset = Setting.all.filter { setting in !values.contains { $0.setting.name == setting.name } }
        return
            (["# flags override the environment, which overrides \(Self.path)"] + lines
            + unset.map { "# \($0.name):  # \($0.variable)" }).joined(separator: "\n")
    }
}

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

/// The variables that the command was started with.
enum Environment {
    static subscript(_ name: String) -> String? { getenv(name).map { String(path: $0) } }

    /// Whether a variable is there and not empty.
    static func isSet(_ name: String) -> Bool { !(self[name] ?? "").isEmpty }
}
