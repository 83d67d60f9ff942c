// Writes the man pages of a command into a folder, one for each verb, from what `--experimental-dump-help` prints.
//
//   pipectl --experimental-dump-help | manual FOLDER

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

/// Paragraphs, and below "Examples:" and where lines are indented, lines as they stand.
func paragraphs(_ text: String) -> [String] {
    text.components(separatedBy: "\n").flatMap { line -> [String] in
        if line.isEmpty { return [".PP"] }
        if line.hasPrefix("  ") { return [".nf", "\\&" + escaped(line), ".fi"] }
        return [(line.hasPrefix(".") ? "\\&" : "") + escaped(line)]
    }
}

func page(_ command: Command, below parents: [String], version: String) -> String {
    let words = parents + [command.commandName]
    let title = words.joined(separator: "-")
    var lines = [".TH \(title.uppercased().replacingOccurrences(of: "-", with: "\\-")) 1 \"\" \"pipectl \(version)\""]
    lines += [".SH NAME", "\(escaped(title)) \\- \(escaped(command.abstract ?? ""))", ".SH SYNOPSIS"]
    let shown = (command.arguments ?? []).filter(\.shouldDisplay)
    let subcommands = (command.subcommands ?? []).filter { $0.commandName != "help" }
    let positional = shown.filter { $0.kind == "positional" }.map { argument in
        let text = argument.usage + (argument.isRepeating ? "..." : "")
        return argument.isOptional ? "[\(text)]" : text
    }
    let rest = subcommands.isEmpty ? ["[\\fIoptions\\fR]"] + positional : ["\\fIsubcommand\\fR"]
    lines.append("\\fB\(escaped(words.joined(separator: " ")))\\fR " + rest.joined(separator: " "))
    if let discussion = command.discussion { lines += [".SH DESCRIPTION"] + paragraphs(discussion) }
    if !subcommands.isEmpty { lines.append(".SH SUBCOMMANDS") }
    for subcommand in subcommands {
        let name = escaped("\(title)-\(subcommand.commandName)")
        lines += [".TP", "\\fB\(name)\\fR(1)", escaped(subcommand.abstract ?? "")]
    }
    if !shown.isEmpty { lines.append(".SH OPTIONS") }
    for argument in shown {
        let value = argument.defaultValue.map { " (default: \($0))" } ?? ""
        lines += [".TP", argument.usage, escaped((argument.abstract ?? "") + value)]
    }
    lines += [".SH EXIT STATUS", "0 all well, 1 something failed, 2 wrong usage, 130 interrupted."]
    return lines.joined(separator: "\n") + "\n"
}

func write(_ command: Command, below parents: [String], version: String, to folder: URL) throws {
    let name = (parents + [command.commandName]).joined(separator: "-") + ".1"
    try page(command, below: parents, version: version)
        .write(to: folder.appending(path: name), atomically: true, encoding: .utf8)
    for subcommand in command.subcommands ?? [] where subcommand.commandName != "help" {
        try write(subcommand, below: parents + [command.commandName], version: version, to: folder)
    }
}

let folder = URL(filePath: CommandLine.arguments.dropFirst().first ?? ".")
let version = CommandLine.arguments.dropFirst(2).first ?? ""
let tool = try JSONDecoder().decode(Tool.self, from: FileHandle.standardInput.readToEnd() ?? Data())
try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
try write(tool.command, below: [], version: version, to: folder)
