// Writes pipectl's man pages into a folder, one for each verb, from what `--experimental-dump-help` prints.
//
//   pipectl --experimental-dump-help | manual FOLDER VERSION DATE

import Foundation

struct Tool: Decodable {
    let command: Command
}

struct Command: Decodable {
    let commandName: String
    let abstract: String?
    let discussion: String?
    let subcommands: [Command]?
    let arguments: [Argument]?
}

struct Argument: Decodable {
    struct Name: Decodable {
        let kind: String
        let name: String

        var text: String { (kind == "long" ? "--" : "-") + name }
    }

    let kind: String
    let shouldDisplay: Bool
    let isOptional: Bool
    let isRepeating: Bool
    let names: [Name]?
    let valueName: String?
    let defaultValue: String?
    let abstract: String?
    let sectionTitle: String?

    /// As it is written on a line.
    var usage: String {
        let value = "\\fI\(escaped(valueName ?? ""))\\fR"
        let names = (names ?? []).map { "\\fB\(escaped($0.text))\\fR" }.joined(separator: ", ")
        switch kind {
        case "positional": return value
        case "flag": return names
        default: return "\(names) \(value)"
        }
    }
}

/// A text in which nothing means anything to troff.
func escaped(_ text: String) -> String {
    text.replacingOccurrences(of: "\\", with: "\\e").replacingOccurrences(of: "-", with: "\\-")
        .replacingOccurrences(of: "'", with: "\\(aq")
}

/// Paragraphs; indented lines stand as they are.
func paragraphs(_ text: String) -> [String] {
    text.components(separatedBy: "\n").flatMap { line -> [String] in
        if line.isEmpty { return [".PP"] }
        if line.hasPrefix("  ") { return [".nf", "\\&" + escaped(line), ".fi"] }
        return [(line.hasPrefix(".") ? "\\&" : "") + escaped(line)]
    }
}

func section(_ title: String, _ entries: [(label: String, text: String)]) -> [String] {
    entries.isEmpty ? [] : [".SH \(title)"] + entries.flatMap { [".TP", $0.label, escaped($0.text)] }
}

/// The variables that matter to a command with these options.
func variables(_ options: Set<String>) -> [(label: String, text: String)] {
    var entries = [
        ("\\fBPIPECTL_\\fIOPTION\\fR", "Sets an option, such as PIPECTL_QUALITY=75. The command line overrides it."),
        ("\\fBXDG_CONFIG_HOME\\fR", "The folder of pipectl/config.yaml. (default: ~/.config)"),
    ]
    if options.contains("cache-dir") {
        entries.append(("\\fBXDG_CACHE_HOME\\fR", "The folder of the cache, pipeline. (default: ~/.cache)"))
    }
    if options.contains("journal") {
        entries.append(
            ("\\fBXDG_STATE_HOME\\fR", "The folder of the batches' records, pipectl. (default: ~/.local/state)"))
    }
    if options.contains("color") {
        entries.append(("\\fBNO_COLOR\\fR, \\fBTERM\\fR", "No colour if NO_COLOR is set, or TERM is dumb."))
    }
    return entries
}

/// The files that a command with these options reads or writes.
func files(_ options: Set<String>) -> [(label: String, text: String)] {
    var entries = [("\\fI~/.config/pipectl/config.yaml\\fR", "Defaults of options, such as quality: 75.")]
    if options.contains("cache-dir") {
        entries.append(("\\fI~/.cache/pipeline\\fR", "The cache, which several programs may share."))
    }
    if options.contains("journal") {
        entries.append(("\\fI~/.local/state/pipectl/*.journal\\fR", "What batches have done, for --resume."))
    }
    return entries
}

func page(_ command: Command, below parents: [String], version: String, date: String) -> String {
    let words = parents + [command.commandName]
    let title = words.joined(separator: "-")
    let heading = title.uppercased().replacingOccurrences(of: "-", with: "\\-")
    var lines = [".TH \(heading) 1 \"\(date)\" \"pipectl \(version)\""]
    lines += [".SH NAME", "\(escaped(title)) \\- \(escaped(command.abstract ?? ""))", ".SH SYNOPSIS"]
    let shown = (command.arguments ?? []).filter(\.shouldDisplay)
    // The page of the whole program has what any verb reads and writes.
    let common = parents.isEmpty ? ["cache-dir", "journal", "color"] : []
    let options = Set(shown.flatMap { $0.names ?? [] }.map(\.name) + common)
    let subcommands = (command.subcommands ?? []).filter { $0.commandName != "help" }
    let positional = shown.filter { $0.kind == "positional" }.map { argument in
        let text = argument.usage + (argument.isRepeating ? "..." : "")
        return argument.isOptional ? "[\(text)]" : text
    }
    let rest = subcommands.isEmpty ? ["[\\fIoptions\\fR]"] + positional : ["\\fIsubcommand\\fR"]
    lines.append("\\fB\(escaped(words.joined(separator: " ")))\\fR " + rest.joined(separator: " "))

    let discussion = (command.discussion ?? "").components(separatedBy: "Examples:\n")
    // Some verbs have meanings of their own for the exit status.
    let status = discussion[0].components(separatedBy: "\n").first { $0.hasPrefix("Exit status: ") }
    let description = discussion[0].components(separatedBy: "\n").filter { $0 != status }.joined(separator: "\n")
        .replacingOccurrences(of: "\n\n\n", with: "\n\n").trimmingCharacters(in: .whitespacesAndNewlines)
    lines += [".SH DESCRIPTION"] + paragraphs(description.isEmpty ? command.abstract ?? "" : description)
    lines += section(
        "SUBCOMMANDS",
        subcommands.map { ("\\fB\(escaped("\(title)-\($0.commandName)"))\\fR(1)", $0.abstract ?? "") })
    if !shown.isEmpty { lines.append(".SH OPTIONS") }
    var named: Set<String> = []
    // What stands in no group: arguments before the groups, options after them.
    let isGrouped = shown.contains { $0.sectionTitle != nil }
    let groups = shown.map { $0.sectionTitle ?? ($0.kind == "positional" || !isGrouped ? "" : "Other") }
    for group in [""] + groups.filter({ $0 != "" && $0 != "Other" }) + ["Other"] where !named.contains(group) {
        let members = zip(groups, shown).filter { $0.0 == group }.map(\.1)
        if members.isEmpty { continue }
        if !group.isEmpty { lines.append(".SS \(escaped(group))") }
        for argument in members {
            let value = argument.defaultValue.map { " (default: \($0))" } ?? ""
            lines += [".TP", argument.usage, escaped((argument.abstract ?? "") + value)]
        }
        named.insert(group)
    }
    lines += section("ENVIRONMENT", variables(options)) + section("FILES", files(options))
    let interrupted = ("130, 143", "Interrupted, or terminated.")
    if let status, !parents.isEmpty {
        lines += [".SH EXIT STATUS", escaped(String(status.dropFirst("Exit status: ".count)))]
        lines += [".TP", interrupted.0, interrupted.1]
    } else {
        lines += section(
            "EXIT STATUS",
            [("0", "Success."), ("1", "Something failed."), ("2", "Wrong usage."), interrupted])
    }
    if discussion.count > 1 {
        lines += [".SH EXAMPLES", ".nf"]
        lines += discussion[1].components(separatedBy: "\n").map { "\\&" + escaped($0) } + [".fi"]
    }
    let related =
        (parents.isEmpty ? [] : [parents.joined(separator: "-") + "(1)"])
        + subcommands.map { "\(title)-\($0.commandName)(1)" } + ["pipectl-pipeline(5)"]
    lines += [
        ".SH SEE ALSO",
        related.map { "\\fB" + escaped($0).replacingOccurrences(of: "(", with: "\\fR(") }.joined(separator: ",\n"),
    ]
    return lines.joined(separator: "\n") + "\n"
}

func write(_ command: Command, below parents: [String], version: String, date: String, to folder: URL) throws {
    let name = (parents + [command.commandName]).joined(separator: "-") + ".1"
    try page(command, below: parents, version: version, date: date)
        .write(to: folder.appending(path: name), atomically: true, encoding: .utf8)
    for subcommand in command.subcommands ?? [] where subcommand.commandName != "help" {
        try write(subcommand, below: parents + [command.commandName], version: version, date: date, to: folder)
    }
}

let folder = URL(filePath: CommandLine.arguments.dropFirst().first ?? ".")
let version = CommandLine.arguments.dropFirst(2).first ?? ""
let date = CommandLine.arguments.dropFirst(3).first ?? ""
let tool = try JSONDecoder().decode(Tool.self, from: FileHandle.standardInput.readToEnd() ?? Data())
try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
try write(tool.command, below: [], version: version, date: date, to: folder)
