import Foundation

/// The lines of an access control list in the page about fleets, as an operator copies them.
package enum AccessControlLines {
    /// What a member needs, and what `pipectl cache` needs besides.
    package static let (member, verbs): ([String], [String]) = {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let page = folder.appending(path: "Sources/PipelineShared/Documentation.docc/AFleet.md")
        let lines = ((try? String(contentsOf: page, encoding: .utf8)) ?? "").split(separator: "\n")
            .filter { $0.hasPrefix(command) }.map { $0.dropFirst(command.count).split(separator: " ").map(String.init) }
        return lines.count == 2 ? (lines[0], lines[1]) : ([], [])
    }()

    package static let command = "ACL SETUSER images "

    /// The keys, channels and commands of a member.
    package static var rights: [String] { member.filter { "~&+".contains($0.first ?? " ") } }
}
