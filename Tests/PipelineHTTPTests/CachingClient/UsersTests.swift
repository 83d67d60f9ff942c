import Essentials
import HTTPTypes
import Pipeline
import PipelineHTTP
import PipelineTesting
import TestFixtures
import Testing

@Suite("Users of a cache", .inEachStore)
struct UsersTests {
    private let clock = ManualClock()
    private let folder: TemporaryFolder
    private let origin: ScriptedOrigin

    /// Serves at any path the names of the users whose requests it was sent.
    init() throws {
        folder = try TemporaryFolder()
        origin = try ScriptedOrigin { request in
            let name = request.headers.map { "\($0.name): \($0.value)" }.filter { !$0.hasPrefix("host") }.joined()
            let control = request.target.contains("private") ? "private, max-age=60" : "max-age=60"
            return .init(headers: [.cacheControl: control], body: name)
        }
    }

    private func client(_ users: HTTPCache.Users) -> CachingClient {
        CachingClient(
            cache: .test(folder.path + "/cache", users: users, clock: clock),
            client: CurlClient(.local))
    }

    private func uses(
        _ client: CachingClient, _ path: String, _ name: String, _ values: [String?]
    ) async throws -> [CacheUse] {
        var uses: [CacheUse] = []
        for value in values {
            var headers = HTTPFields()
            headers[try #require(HTTPField.Name(name))] = value
            uses.append(try await client.send(CachingRequest(url: origin.url(path), headers: headers)).use)
        }
        return uses
    }

    @Test(
        "Requests with different credentials never share a response, whatever the origin's Vary",
        arguments: ["Authorization", "Cookie", "Proxy-Authorization", "X-Api-Key", "x-api-key", "X-Auth-Token"])
    func credentials(name: String) async throws {
        let uses = try await uses(client(.several), "/a", name, ["alice", "bob", nil, "alice", "bob", nil])
        #expect(uses == [.miss, .miss, .miss, .hit, .hit, .hit])
    }

    @Test("A program names the fields by which its origins know users")
    func ownCredentials() async throws {
        let client = client(.several(.standard.adding("X-Session")))
        #expect(try await uses(client, "/a", "X-Session", ["alice", "bob", "alice"]) == [.miss, .miss, .hit])
    }

    @Test(
        "A private response answers only requests with the same fields",
        arguments: ["X-User", "From", "baggage", "Sec-Token"])
    func privateResponse(name: String) async throws {
        let uses = try await uses(client(.several), "/private", name, ["alice", "bob", nil, "alice", "bob", nil])
        #expect(uses == [.miss, .miss, .miss, .hit, .hit, .hit])
    }

    @Test("A response that is not private answers requests with other fields as well")
    func publicResponse() async throws {
        #expect(try await uses(client(.several), "/a", "X-User", ["alice", "bob", nil]) == [.miss, .hit, .hit])
    }

    @Test(
        "Fields that say nothing of the user share a private response",
        arguments: [
            "Accept", "Accept-Language", "User-Agent", "traceparent", "X-Request-Id", "Sec-Fetch-Mode", "Sec-CH-UA",
            "Sec-GPC", "Referer",
        ])
    func harmless(name: String) async throws {
        #expect(try await uses(client(.several), "/private", name, ["a", "b", nil]) == [.miss, .hit, .hit])
    }

    @Test("A cache with one user follows Vary alone, and tells Authorization apart")
    func oneUser() async throws {
        let client = client(.one)
        #expect(try await uses(client, "/private", "X-Counter", ["1", "2"]) == [.miss, .hit])
        #expect(try await uses(client, "/private2", "Cookie", ["1", "2"]) == [.miss, .hit])
        #expect(try await uses(client, "/private3", "Authorization", ["1", "2"]) == [.miss, .miss])
    }

    @Test(
        "In one folder, no cache of several users gives what a cache of one user has stored, and the other way round",
        arguments: ["/a", "/private"])
    func sharedFolder(path: String) async throws {
        let (one, several) = (client(.one), client(.several))
        #expect(try await uses(one, path, "Cookie", ["alice"]) == [.miss])
        #expect(try await uses(several, path, "Cookie", [nil, "alice", nil]) == [.miss, .miss, .hit])
        #expect(try await uses(several, path, "X-User", ["bob"]) == [path == "/a" ? .hit : .miss])
        #expect(try await uses(one, path, "Cookie", ["alice", "bob", nil]) == [.hit, .hit, .hit])
    }

    @Test("A 304 that makes a response private keeps it for the user who asked")
    func becomesPrivate() async throws {
        origin.route("/turns") { request in
            request.headers[.ifNoneMatch] == nil
                ? .init(headers: [.eTag: "\"1\"", .cacheControl: "max-age=60"], body: "a")
                : .init(status: 304, headers: [.eTag: "\"1\"", .cacheControl: "private, max-age=60"])
        }
        let client = client(.several)
        #expect(try await uses(client, "/turns", "X-User", ["alice", "bob"]) == [.miss, .hit])
        clock.advance(by: .seconds(60))
        #expect(try await uses(client, "/turns", "X-User", ["alice", "alice", "bob"]) == [.revalidated, .hit, .miss])
    }
}
