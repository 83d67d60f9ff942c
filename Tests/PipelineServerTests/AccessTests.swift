import Foundation
import HTTPTypes
import PipelineTesting
import Stages
import Testing

@testable import PipelineServer

@Suite("Only what the settings allow is served")
struct AccessTests {
    @Test("A signature is valid with each key of the file, and with no other")
    func signatures() throws {
        let (old, new) = (String(repeating: "a1", count: 16), String(repeating: "b2", count: 16))
        let before = try SigningKeys(file: "# comment\n\(old):c3c3\n")
        let both = try SigningKeys(file: "\(new)\n\n\(old):c3c3\n")
        let after = try SigningKeys(file: new)
        let signature = before.signature(of: "/a", isSalted: true)
        #expect(both.isValid(signature, of: "/a", isSalted: true))
        #expect(!both.isValid(signature, of: "/b", isSalted: true))
        #expect(!both.isValid(signature, of: "/a"))
        #expect(!after.isValid(signature, of: "/a", isSalted: true))
        #expect(!both.isValid("", of: "/a") && !both.isValid("!!", of: "/a"))
        #expect(after.isValid(both.signature(of: "/a"), of: "/a"))
    }

    @Test("The signature is imgproxy's")
    func imgproxySignature() throws {
        // The example of imgproxy's documentation: key "secret", salt "hello".
        let keys = try SigningKeys([.init(any: Array("secret".utf8), salt: Array("hello".utf8))])
        let path = "/rs:fill:300:400:0/g:sm/aHR0cDovL2V4YW1w/bGUuY29tL2ltYWdl/cy9jdXJpb3NpdHku/anBn.png"
        #expect(keys.signature(of: path, isSalted: true) == "oKfUtW34Dvo2BGQehJFR4Nr0_rIjOtdtzJ3QFsUcXH8")
    }

    @Test("A key that is malformed or short is an error without its text", arguments: ["zz", "a1a1", "a:b:c"])
    func malformedKeys(line: String) {
        let error = #expect(throws: ServerConfigurationError.self) { _ = try SigningKeys(file: "\n" + line) }
        #expect(error?.description.contains("Line 2") == true)
        #expect(error?.description.contains(line) == false)
    }

    @Test(
        "URLs of allowed origins and names in the folder are sources",
        arguments: [
            ("https://images.example/photos/a.jpg", true), ("https://images.example/photos", true),
            ("https://IMAGES.example/photos/a.jpg?w=1", true), ("https://images.example/photos2/a.jpg", false),
            ("http://images.example/photos/a.jpg", false), ("https://images.example:8443/photos/a.jpg", false),
            ("https://images.example.attacker.example/photos/a.jpg", false),
            ("https://images.example@attacker.example/photos/a.jpg", false),
            ("https://images.example/photos/../secret.jpg", false),
            ("https://images.example/photos/%2E%2E/secret.jpg", false), ("a.jpg", true), ("b/a.jpg", true),
            ("../a.jpg", false), ("b/../../a.jpg", false), ("/etc/passwd", false), (".hidden/a.jpg", false),
            ("b//a.jpg", false), ("", false), ("file:///etc/passwd", false),
        ])
    func sources(name: String, isAllowed: Bool) throws {
        let policy = SourcePolicy(
            folder: "/pictures",
            origins: [try #require(URL(string: "https://images.example/photos"))])
        let source = try? policy.source(name)
        #expect((source != nil) == isAllowed)
        if case .file(let path) = source { #expect(path == "/pictures/" + name) }
    }

    @Test("Without a folder no name is a source")
    func noFolder() {
        #expect(throws: Problem.self) { _ = try SourcePolicy().source("a.jpg") }
    }

    @Test("A client that sends too much waits, and others don't")
    func rates() throws {
        let clock = ManualClock()
        let limit = RateLimit(perSecond: 2, burst: 3, clock: clock)
        for _ in 0..<3 { try limit.take(for: "a") }
        let problem = #expect(throws: Problem.self) { try limit.take(for: "a") }
        #expect(problem?.status == .tooManyRequests)
        #expect(problem?.retryAfter == .seconds(0.5))
        try limit.take(for: "b")
        clock.advance(by: .seconds(0.5))
        try limit.take(for: "a")
        #expect(throws: Problem.self) { try limit.take(for: "a") }
    }

    @Test("A client behind a trusted proxy is the last address that the proxy didn't make up")
    func addresses() throws {
        let clients = try ClientAddresses(proxies: ["127.0.0.1", "10.0.0.1"])
        #expect(clients.address(peer: "127.0.0.1", forwardedFor: "1.1.1.1, 2.2.2.2, 10.0.0.1") == "2.2.2.2")
        #expect(clients.address(peer: "127.0.0.1", forwardedFor: nil) == "127.0.0.1")
        #expect(clients.address(peer: "3.3.3.3", forwardedFor: "1.1.1.1") == "3.3.3.3")
        #expect(clients.address(peer: "127.0.0.1", forwardedFor: "1.1.1.1, nonsense, 10.0.0.1") == "10.0.0.1")
    }

    @Test("A client is one whatever its port is, an IPv6 network of 64 bits too, and proxies may be networks")
    func networks() throws {
        let clients = try ClientAddresses(proxies: ["127.0.0.0/8", "10.0.0.0/8", "fd00::/8"])
        func client(_ field: String) -> String { clients.address(peer: "127.0.0.9", forwardedFor: field) }
        #expect(client("2.2.2.2:501, 10.9.8.7") == client("2.2.2.2:502, fd12::1"))
        #expect(
            client("2001:db8::1") == client("[2001:db8::6]:80") && client("2001:db8:0:1::1") != client("2001:db8::1"))
        #expect(client("::ffff:2.2.2.2") == client("2.2.2.2"))
        #expect(client("2.2.2.2") != client("2.2.2.3"))
        for text in ["10.0.0.0/33", "10.0.0/8", "proxy.example", "fd00::/129", ""] {
            #expect(throws: ServerConfigurationError.self) { _ = try ClientAddresses(proxies: [text]) }
        }
    }

    @Test("A stranger with many addresses doesn't have others' requests forgotten")
    func manyClients() throws {
        let clock = ManualClock()
        let limit = RateLimit(perSecond: 0.001, burst: 1, clock: clock)
        try limit.take(for: "early")
        for number in 0..<9_998 {
            clock.advance(by: .milliseconds(1))
            try limit.take(for: "\(number)")
        }
        try limit.take(for: "asking")
        for number in 10_000..<10_100 { try limit.take(for: "\(number)") }
        #expect(throws: Problem.self) { try limit.take(for: "asking") }
    }

    @Test(
        "A signature has one spelling",
        arguments: ["=", "=GARBAGE", "==", " "])
    func spellings(end: String) throws {
        let keys = try SigningKeys([.init(secret: Array(repeating: 0xA1, count: 16))])
        let signature = keys.signature(of: "/a")
        #expect(keys.isValid(signature, of: "/a"))
        #expect(!keys.isValid(signature + end, of: "/a"))
        // The last character has two bits that say nothing.
        let others = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".map {
            signature.dropLast() + "\($0)"
        }
        #expect(others.count { keys.isValid($0, of: "/a") } == 1)
    }

    @Test(
        "Only hosts of the list are answered, and malformed ones never",
        arguments: [
            ("images.example", 200), ("IMAGES.example:8080", 200), ("other.example", 200), ("evil.example", 421),
            ("images.example.evil.example", 421), ("127.0.0.1", 421), ("a>; rel=\"x\", <http://evil", 400),
            ("a b/<x>\"", 400), ("", 400), ("images.example:x", 400), ("images.example:99999", 400), ("[::1", 400),
            ("user@images.example", 400), ("images.example/", 400),
        ])
    func hosts(authority: String, status: Int) throws {
        let hosts = try Hosts(
            publicURL: "https://images.example/", names: ["Other.example"], listeningAt: "0.0.0.0")
        do {
            #expect(try hosts.address(for: authority) == "https://images.example")
            #expect(status == 200)
        } catch {
            #expect(error.status.code == status)
        }
    }

    @Test("Without a list the names of the loopback address are the list, and elsewhere there has to be one")
    func loopback() throws {
        let hosts = try Hosts(publicURL: nil, names: [], listeningAt: "127.0.0.1")
        for name in ["localhost", "127.0.0.1:8080", "[::1]:8080"] {
            #expect(try hosts.address(for: name) == "http://\(name)")
        }
        #expect(throws: Problem.self) { _ = try hosts.address(for: "rebound.example") }
        #expect(throws: ServerConfigurationError.self) {
            _ = try Hosts(publicURL: nil, names: [], listeningAt: "0.0.0.0")
        }
        #expect(throws: ServerConfigurationError.self) {
            _ = try Hosts(publicURL: "javascript:x", names: [], listeningAt: "127.0.0.1")
        }
    }
}
