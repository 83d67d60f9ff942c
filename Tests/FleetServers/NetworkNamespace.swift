import Foundation

/// A network of its own for a server, on a link to this machine's that can be taken down. It ends with the test.
package final class NetworkNamespace: Sendable {
    private static let program = "/usr/sbin/ip"
    /// Root alone may make one, and not in every container.
    package static let isPermitted = geteuid() == 0 && (try? NetworkNamespace()) != nil

    /// Its name, for `ip netns exec`.
    package let name: String
    /// The server's address in it.
    package let address: String
    private let link: String

    /// Makes the namespace, with its link up.
    package init() throws {
        let number = UInt8.random(in: 0..<250)
        name = "pipeline-\(UUID().uuidString.prefix(6))"
        link = "pl\(name.suffix(6))"
        address = "10.213.\(number).2"
        try Self.ip("netns", "add", name)
        try Self.ip("link", "add", link, "type", "veth", "peer", "name", "inside", "netns", name)
        try Self.ip("address", "add", "10.213.\(number).1/30", "dev", link)
        try Self.ip("link", "set", link, "up")
        try Self.ip("-n", name, "address", "add", address + "/30", "dev", "inside")
        try Self.ip("-n", name, "link", "set", "inside", "up")
    }

    deinit {
        // The link goes with its end.
        try? Self.ip("netns", "delete", name)
    }

    /// Takes the link down, so that packets get lost, or up again.
    package func setCut(_ isCut: Bool) throws {
        try Self.ip("-n", name, "link", "set", "inside", isCut ? "down" : "up")
    }

    private static func ip(_ arguments: String...) throws {
        let process = Process()
        process.executableURL = URL(filePath: program)
        process.arguments = arguments
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw RedisServer.Failure(said: "ip \(arguments.joined(separator: " ")) failed")
        }
    }
}
