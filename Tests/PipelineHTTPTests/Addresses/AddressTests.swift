import Essentials
import LibC
import HTTPTypes
import Pipeline
import PipelineTesting
import TestFixtures
import Testing

@testable import PipelineHTTP

@Suite("Addresses", .timeLimit(.minutes(5)))
struct AddressTests {
    @Test(
        "Special addresses are told apart from public ones (RFC 6890 and IANA's registries)",
        arguments: [
            ("unspecified", ["0.0.0.0", "0.0.0.1", "0.255.255.255", "::"]),
            ("loopback", ["127.0.0.1", "127.0.0.0", "127.255.255.255", "::1"]),
            (
                "private",
                [
                    "10.0.0.0", "10.255.255.255", "172.16.0.0", "172.31.255.255", "192.168.0.0", "192.168.255.255",
                    "fec0::", "feff:ffff::1",
                ]
            ),
            ("carrier-grade NAT", ["100.64.0.0", "100.127.255.255"]),
            ("link-local", ["169.254.0.0", "169.254.169.254", "169.254.255.255", "fe80::", "febf:ffff::1"]),
            ("unique-local", ["fc00::", "fd12:3456::1", "fdff:ffff::"]),
            ("protocol-assigned", ["192.0.0.0", "192.0.0.255", "2001:10::", "2001:20::1", "2001:1ff:ffff::"]),
            (
                "documentation",
                ["192.0.2.0", "192.0.2.255", "198.51.100.7", "203.0.113.255", "2001:db8::", "3fff::", "3fff:fff::1"]
            ),
            ("benchmarking", ["198.18.0.0", "198.19.255.255", "2001:2::1"]),
            ("multicast", ["224.0.0.0", "239.255.255.255", "ff00::", "ff02::1"]),
            ("broadcast", ["255.255.255.255"]),
            (
                "reserved",
                [
                    "240.0.0.0", "255.255.255.254", "192.88.99.1", "100::1", "4000::", "5f00::1", "8000::", "e000::",
                    "200::1",
                ]
            ),
            ("IPv4-mapped", ["::ffff:127.0.0.1", "::ffff:8.8.8.8", "::ffff:0:10.0.0.1"]),
            ("IPv4-compatible", ["::127.0.0.1", "::8.8.8.8", "::2"]),
            ("NAT64 (hidden IPv4)", ["64:ff9b::7f00:1", "64:ff9b::8.8.8.8", "64:ff9b:1::1"]),
            ("6to4 (hidden IPv4)", ["2002:7f00:1::", "2002:808:808::1"]),
            ("Teredo (hidden IPv4)", ["2001::1", "2001:0:ffff::"]),
            ("ISATAP (hidden IPv4)", ["2a00::5efe:7f00:1", "2a00:1:2:3:200:5efe:10.0.0.1"]),
        ])
    func special(kind: String, texts: [String]) throws {
        for text in texts {
            let address = try #require(Address(text), "\(text)")
            #expect(AddressRange.kind(of: address) == kind, "\(text)")
            #expect(!AddressRange.isPublic(address))
        }
    }

    @Test(
        "The neighbours of special ranges are public",
        arguments: [
            "1.0.0.0", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255",
            "128.0.0.0", "169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0", "191.255.255.255",
            "192.0.1.0",
            "192.0.3.0", "192.88.98.255", "192.88.100.0", "192.167.255.255", "192.169.0.0", "198.17.255.255",
            "198.20.0.0",
            "198.51.99.255", "198.51.101.0", "203.0.112.255", "203.0.114.0", "223.255.255.255", "2001:200::",
            "2001:db7:ffff::1", "2001:db9::", "2003::1", "2606:4700:4700::1111", "2a00:1450::1", "3ffe::1",
            "3fff:1000::",
            "2a00::5eff:7f00:1",
        ])
    func publicOnes(text: String) throws {
        let address = try #require(Address(text))
        #expect(AddressRange.kind(of: address) == nil)
    }

    @Test("Only strict spellings are addresses; a policy's entries are addresses, networks or names")
    func spellings() throws {
        for text in [
            "127.1", "0177.0.0.1", "2130706433", "0x7f.0.0.1", "1.2.3", "1.2.3.4.5", "256.0.0.1", "[::1]", "", "::1%lo",
            "a",
        ] {
            #expect(Address(text) == nil, "\(text)")
        }
        for text in ["10.0.0.0/33", "10.0.0.0/", "10.0.0.0/-1", "::/129", "10.0.0.0/a", "10.0.0.0/8/8", "/8"] {
            #expect(AddressNetwork(text) == nil, "\(text)")
            #expect(throws: LoadError.self) { try AddressPolicy.publicOnly(allowing: [text]) }
        }
        for text in ["", "http://example.com", "example.com:80", "a b", "user@example.com", "*.example.com"] {
            #expect(throws: LoadError.self) { try AddressPolicy.publicOnly(allowing: [text]) }
        }
        #expect(try #require(Address("2001:DB8:0::01")).description == "2001:db8::1")
    }

    @Test(
        "A network holds what shares its prefix",
        arguments: [
            ("10.0.0.0/8", "10.255.0.1", true), ("10.0.0.0/8", "11.0.0.0", false), ("10.1.2.3/8", "10.9.9.9", true),
            ("0.0.0.0/0", "255.1.1.1", true), ("0.0.0.0/0", "::1", false), ("192.168.4.0/23", "192.168.5.255", true),
            ("192.168.4.0/23", "192.168.6.0", false), ("127.0.0.1", "127.0.0.1", true),
            ("127.0.0.1", "127.0.0.2", false),
            ("fd00::/9", "fd7f::1", true), ("fd00::/9", "fd80::1", false), ("::1", "::1", true),
            ("::/0", "fd00::", true),
        ])
    func networks(network: String, address: String, holds: Bool) throws {
        let network = try #require(AddressNetwork(network))
        #expect(network.contains(try #require(Address(address))) == holds)
    }

    /// Spellings of hosts, each of which would lead inside; the port is the origin's, so that a slip would be seen.
    static let inside: [String] = [
        // Loopback in the spellings of RFC 3986 section 7.4 and beyond.
        "127.0.0.1", "127.1", "127.0.1", "127.00.000.001", "2130706433", "0x7f000001", "0x7f.0.0.1", "0x7f.1",
        "0x7F.0x0.0x0.0x1", "0177.0.0.1", "0177.1", "017700000001", "0177.0x0.0.01", "127.0.0.2", "127.255.255.254",
        "127.0.0.1.", "%31%32%37.0.0.1", "1%327.0.0.1",
        // The unspecified address, which Linux takes for loopback.
        "0.0.0.0", "0", "0x0", "00", "0.0", "0.1.2.3",
        // Names.
        "localhost", "LOCALHOST", "localhost.", "foo.localhost", "%6cocalhost",
        // Inside networks, and a cloud's metadata service.
        "10.0.0.1", "10.255.255.255", "0xa000001", "012.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.0.1",
        "192.168.1",
        "3232235521", "169.254.169.254", "0xa9fea9fe", "2852039166", "0251.0376.0251.0376", "100.64.0.1",
        "100.100.100.200",
        "192.0.0.1", "192.0.2.1", "198.18.0.1", "198.51.100.1", "203.0.113.1", "224.0.0.1", "239.255.255.250",
        "240.0.0.1",
        "255.255.255.255", "0xffffffff",
        // IPv6.
        "[::1]", "[0:0:0:0:0:0:0:1]", "[0000:0000:0000:0000:0000:0000:0000:0001]", "[::]", "[0::0]", "[fe80::1]",
        "[fc00::1]",
        "[fd00:ec2::254]", "[fec0::1]", "[ff02::1]", "[2001:db8::1]", "[3fff::1]", "[100::1]",
        // IPv4 hidden in IPv6.
        "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::FFFF:7F00:0001]", "[0:0:0:0:0:ffff:127.0.0.1]",
        "[::ffff:10.0.0.1]",
        "[::ffff:169.254.169.254]", "[::ffff:0:127.0.0.1]", "[::127.0.0.1]", "[::7f00:1]", "[::10.0.0.1]",
        "[64:ff9b::127.0.0.1]", "[64:ff9b::7f00:1]", "[64:ff9b:1::127.0.0.1]", "[2002:7f00:1::]", "[2002:a00:1::1]",
        "[2002:a9fe:a9fe::1]", "[2001::7f00:1]", "[2001:0:4136:e378:8000:63bf:80ff:fffe]", "[2a00::5efe:127.0.0.1]",
        "[2a00::200:5efe:10.0.0.1]", "[fe80::5efe:7f00:1]",
        // What other readers of URLs take for a host.
        "user@127.0.0.1", "8.8.8.8@127.0.0.1", "8.8.8.8:80@127.0.0.1", "\u{ff11}\u{ff12}\u{ff17}.0.0.1",
        "127\u{3002}0\u{3002}0\u{3002}1", "\u{24db}ocalhost", "[::1%25lo]", "[fe80::1%25lo]",
    ]

    @Test("No spelling of an inside address gets through", arguments: inside)
    func refused(host: String) async throws {
        let origin = try ScriptedOrigin { _ in .init(body: "inside") }
        guard let url = URL(string: "http://\(host):\(origin.port)/") else { return }
        do {
            _ = try await CurlClient().get(url)
            Issue.record("\(host) was reached.")
        } catch let error as LoadError {
            // What is not a URL at all to somebody on the way does not get through either.
            #expect([.refused, .invalidURL, .unreachable].contains(error.code), "\(host): \(error)")
            if Address(host) != nil {
                #expect(error.code == .refused, "\(host): \(error)")
                #expect(error.message.contains(host) && error.message.contains(".publicOnly(allowing:"))
            }
        }
        #expect(origin.log.connections == 0)
    }

    @Test("At least sixty spellings are refused by the address that they lead to, not for another reason")
    func refusedByAddress() async throws {
        let origin = try ScriptedOrigin { _ in .init(body: "inside") }
        let client = CurlClient()
        var refused: [String] = []
        for host in Self.inside {
            guard let url = URL(string: "http://\(host):\(origin.port)/") else { continue }
            do { _ = try await client.get(url) } catch let error as LoadError {
                if error.code == .refused { refused.append(host) }
            }
        }
        #expect(refused.count >= 60, "\(Set(Self.inside).subtracting(refused))")
        #expect(origin.log.connections == 0)
    }

    @Test(
        "What is allowed gets through, however it is spelled",
        arguments: [
            ("127.0.0.1", "127.0.0.1"), ("127.0.0.1", "2130706433"), ("127.0.0.1", "localhost"),
            ("127.0.0.0/8", "127.1"),
            ("localhost", "localhost"), ("localhost.", "LOCALHOST"),
            ("0.0.0.0/0", "127.0.0.1"),
        ])
    func allowed(entry: String, host: String) async throws {
        let origin = try ScriptedOrigin { _ in .init(body: "inside") }
        var options = CurlClient.Options()
        options.addresses = try .publicOnly(allowing: [entry])
        let url = try #require(URL(string: "http://\(host):\(origin.port)/"))
        #expect(try await CurlClient(options).get(url).body == Array("inside".utf8))
    }

    @Test(
        "What is allowed is that alone",
        arguments: [
            ("127.0.0.2", "127.0.0.1"), ("10.0.0.0/8", "127.0.0.1"), ("localhost", "127.0.0.1"), ("::1", "127.0.0.1"),
            ("example.com", "localhost"), ("127.0.0.1", "[::ffff:127.0.0.1]"),
        ])
    func notAllowed(entry: String, host: String) async throws {
        let origin = try ScriptedOrigin { _ in .init(body: "inside") }
        var options = CurlClient.Options()
        options.addresses = try .publicOnly(allowing: [entry])
        let url = try #require(URL(string: "http://\(host):\(origin.port)/"))
        _ = await failure(.refused) { try await CurlClient(options).get(url) }
        #expect(origin.log.connections == 0)
    }

    @Test(
        "A redirect inside is refused although the first address was allowed",
        arguments: ["127.0.0.1", "[::ffff:127.0.0.1]", "2130706433", "0.0.0.0", "[::1]"])
    func redirectInside(host: String) async throws {
        let origin = try ScriptedOrigin()
        origin.route("/") { [port = origin.port] _ in .redirect(to: "http://\(host):\(port)/secret") }
        var options = CurlClient.Options()
        options.addresses = try .publicOnly(allowing: ["localhost"])
        let url = try #require(URL(string: "http://localhost:\(origin.port)/"))
        let error = await failure(.refused) { try await CurlClient(options).get(url) }
        #expect(error?.subject.contains("/secret") == true)
        #expect(origin.log.requests.map(\.path) == ["/"])
    }

    @Test("A connection opened under a looser policy never serves a stricter request")
    func reusedConnection() async throws {
        let origin = try ScriptedOrigin { _ in .init(body: "inside") }
        let client = CurlClient()
        let url = origin.url("/")
        _ = try await client.send(TransferRequest(url: url, addresses: .any)).bytes()
        let error = await failure(.refused) { try await client.get(url) }
        #expect(error?.message.contains("127.0.0.1 leads to 127.0.0.1, a loopback address") == true)
        #expect(origin.log.requests.count == 1)
        _ = try await client.send(TransferRequest(url: url, addresses: .any)).bytes()
        #expect(origin.log.requests.count == 2)
    }
}
