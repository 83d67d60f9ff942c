import ArgumentParser
import Foundation

/// Where settings come from: a file, the environment and the command line. An option wins over the environment, which wins
/// over the file.
///
/// The file, named by `--config` or `IMAGE_SERVER_CONFIG`, has a line `name = value` for each option, without its dashes. In
/// the environment `--max-age` is `IMAGE_SERVER_MAX_AGE`. Flags are `true` or `false`. An option that may be repeated has
/// several lines, or in the environment several values between spaces.
struct SettingsSources {
    private enum Kind {
        case value, list, flag
    }

    /// The options by their names.
    private static let kinds: [String: Kind] = {
        var kinds: [String: Kind] = [:]
        for child in Mirror(reflecting: Settings()).children {
            guard let label = child.label, let setting = child.value as? any SettingProperty else { continue }
            kinds[optionName(label)] =
                type(of: setting).value == Bool.self
                ? .flag : type(of: setting).value == [String].self ? .list : .value
        }
        return kinds
    }()

    /// Returns the command line with what the file and the environment say before it, less what a later source says too.
    /// - Throws: ``SettingsError`` for a file that can't be read, and for names and values that don't exist.
    static func arguments(
        _ commandLine: [String], environment: [String: String]
    ) throws(SettingsError) -> [String] {
        var own = commandLine
        let isSubcommand = own.first == "serve"
        if isSubcommand { own.removeFirst() }
        guard own.first.map({ $0.hasPrefix("-") }) ?? true, !own.contains(where: { ["--help", "-h"].contains($0) })
        else {
            return commandLine
        }
        let variables = environment.filter { $0.key.hasPrefix(prefix) && $0.key != prefix + "CONFIG" }
        var inEnvironment: [(name: String, value: String)] = []
        for (key, text) in variables.sorted(by: { $0.key < $1.key }) {
            let name = key.dropFirst(prefix.count).lowercased().replacing("_", with: "-")
            let values = kinds[name] == .list ? text.split(separator: " ").map(String.init) : [text]
            inEnvironment += values.map { (name, $0) }
        }
        let file = try config(&own) ?? environment[prefix + "CONFIG"]
        let onLine = Set(
            own.filter { $0.hasPrefix("--") }.map { option in
                let name = option.dropFirst(2).prefix { $0 != "=" }
                return String(kinds[String(name)] == nil && name.hasPrefix("no-") ? name.dropFirst(3) : name)
            })
        let named = Set(inEnvironment.map(\.name)).union(onLine)
        let inFile = try file.map(lines)?.filter { !named.contains($0.name) } ?? []
        var all: [String] = []
        for (name, value) in inFile + inEnvironment.filter({ !onLine.contains($0.name) }) {
            guard let kind = kinds[name] else { throw SettingsError("There is no setting \(name).") }
            guard kind == .flag else {
                all.append("--\(name)=\(value)")
                continue
            }
            guard let isOn = Bool(value) else {
                throw SettingsError("\(name) is \(value); it has to be true or false.")
            }
            if isOn { all.append("--\(name)") } else if name == "isolate" { all.append("--no-isolate") }
        }
        return (isSubcommand ? ["serve"] : []) + all + own
    }

    /// All settings in the form of a file. The password of a Redis server is left out.
    static func text(of settings: Settings) -> String {
        Mirror(reflecting: settings).children.compactMap { child -> String? in
            guard let label = child.label, let setting = child.value as? any SettingProperty else { return nil }
            let name = optionName(label)
            switch setting.current {
            case let list as [String]:
                return list.isEmpty ? "# \(name) =" : list.map { "\(name) = \($0)" }.joined(separator: "\n")
            case Optional<Any>.none: return "# \(name) ="
            case let value?:
                guard name == "shared", var url = URLComponents(string: "\(value)"), url.password != nil else {
                    return "\(name) = \(value)"
                }
                url.password = "…"
                return "\(name) = \(url.string ?? "…")"
            }
        }.joined(separator: "\n")
    }

    private static let prefix = "IMAGE_SERVER_"

    /// Takes `--config FILE` off the command line.
    private static func config(_ arguments: inout [String]) throws(SettingsError) -> String? {
        guard let index = arguments.firstIndex(where: { $0 == "--config" || $0.hasPrefix("--config=") }) else {
            return nil
        }
        let option = arguments.remove(at: index)
        if option != "--config" { return String(option.dropFirst("--config=".count)) }
        guard index < arguments.count else { throw SettingsError("Name a file after --config.") }
        return arguments.remove(at: index)
    }

    private static func lines(_ file: String) throws(SettingsError) -> [(name: String, value: String)] {
        guard let text = try? String(contentsOfFile: file, encoding: .utf8) else {
            throw SettingsError("The file of settings, \(file), can't be read.")
        }
        var all: [(name: String, value: String)] = []
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let line = line.trimmingCharacters(in: .whitespaces)
            guard !line.isEmpty, !line.hasPrefix("#") else { continue }
            let parts = line.split(separator: "=", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
            guard parts.count == 2, kinds[parts[0]] != nil else {
                throw SettingsError("Line \(index + 1) of \(file) is not a setting such as max-age = 3600.")
            }
            all.append((parts[0], parts[1]))
        }
        return all
    }

    /// The name of a property's option.
    private static func optionName(_ label: String) -> String {
        let property = String(label.drop { $0 == "_" })
        return names[property] ?? property.replacing(/([a-z])([A-Z])/) { "\($0.1)-\($0.2)" }.lowercased()
    }

    /// The names of options that may be repeated.
    private static let names = [
        "origins": "allow", "addresses": "allow-address", "hostNames": "allow-host", "proxies": "trust-proxy",
        "presets": "preset", "imgproxyPresets": "imgproxy-preset", "pictures": "picture", "lifetimes": "lifetime",
        "tenantKeys": "tenant", "formatQualities": "format-quality", "formatSizes": "format-pixels",
    ]
}

/// A property of ``Settings`` that is an option or a flag.
private protocol SettingProperty {
    static var value: Any.Type { get }
    var current: Any? { get }
}

extension Option: SettingProperty {
    fileprivate static var value: Any.Type { Value.self }
    fileprivate var current: Any? {
        let mirror = Mirror(reflecting: wrappedValue)
        return mirror.displayStyle == .optional ? mirror.children.first?.value : wrappedValue
    }
}

extension Flag: SettingProperty {
    fileprivate static var value: Any.Type { Value.self }
    fileprivate var current: Any? { wrappedValue }
}
