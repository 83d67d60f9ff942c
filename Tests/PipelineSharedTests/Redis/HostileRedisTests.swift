import FleetServers
import Foundation
import HTTPTypes
import Pipeline
import PipelineHTTP
import PipelineTesting
import Testing

@testable import PipelineShared
@testable import Stages

@Suite("A Redis server that may reply anything", .serialized, .timeLimit(.minutes(5)))
struct HostileRedisTests {
    private let events = EventRecorder()

    private func fleet(_ server: HostileRedis, clock: any LoadClock = SystemClock()) -> Fleet {
        Fleet(
            server.address, connecting: RedisLimits(request: .seconds(10), connecting: .seconds(10)), clock: clock,
            observers: [events], logger: events.logger)
    }

    private func joined(_ server: HostileRedis, clock: any LoadClock = SystemClock()) -> Fleet {
        let fleet = fleet(server, clock: clock)
        fleet.join(
            PipelineResources(
                memory: MemoryCache(), responses: HTTPCache(inMemory: 1_000_000), client: CurlClient()))
        return fleet
    }

    private static func message(_ number: String, _ channel: String) -> String {
        let text = "\(number) http://example.com/a"
        return "*3\r\n$7\r\nmessage\r\n$\(channel.utf8.count)\r\n\(channel)\r\n$\(text.utf8.count)\r\n\(text)\r\n"
    }

    /// A server that sends messages with these numbers once a member listens.
    /// - Parameters:
    ///   - endsFirst: Whether the first connection on which a member listens ends after them.
    ///   - missed: The reply to the question which invalidations were missed.
    private func server(
        messages: [String], endsFirst: Bool = false, missed: @escaping @Sendable () -> String
    ) throws -> HostileRedis {
        let ends = Lock(endsFirst)
        return try HostileRedis { command in
            if command.words[0] == "SUBSCRIBE" {
                let channel = command.words[1]
                let confirmed = "*3\r\n$9\r\nsubscribe\r\n$\(channel.utf8.count)\r\n\(channel)\r\n:1\r\n"
                let reply = Array((confirmed + messages.map { Self.message($0, channel) }.joined()).utf8)
                let isLast = ends.withLock { ends in
                    defer { ends = false }
                    return ends
                }
                return isLast ? .last(reply) : .bytes(reply)
            }
            return command.script == RedisScript.missed.source ? .text(missed()) : nil
        }
    }

    /// The numbers after which members have asked for the invalidations that they have missed.
    private func asked(_ server: HostileRedis) -> [String?] {
        server.commands.filter { $0.script == RedisScript.missed.source }.map(\.words.last)
    }

    /// The reply to the question which invalidations were missed.
    private static func missed(data: String = "1", known: String = "0", until: String, _ targets: String...) -> String {
        let members = targets.map { "$\($0.utf8.count)\r\n\($0)\r\n:5\r\n" }
        let numbers = "$\(data.utf8.count)\r\n\(data)\r\n:\(known)\r\n:0\r\n:\(until)\r\n"
        return "*5\r\n\(numbers)*\(2 * targets.count)\r\n\(members.joined())"
    }

    @Test(
        "ends no process by the numbers of invalidations",
        arguments: ["-9223372036854775808", "9223372036854775807", "-1"])
    func invalidations(latest: String) async throws {
        let server = try server(messages: ["9223372036854775807", "-9223372036854775808", "7"]) {
            Self.missed(until: latest)
        }
        let fleet = joined(server)
        defer { fleet.close() }
        if latest == "-1" {
            for count in 1...3 {
                await events.until { $0.contains(.invalidated) && $0.count { $0 == .listening } >= count }
                server.closeConnections()
            }
        } else {
            // A number that no server has is an unreadable reply.
            await events.until { $0.contains(.deaf("it sent an unexpected reply")) }
            #expect(!events.events.contains(.listening))
        }
    }

    @Test("hides no invalidation by a number from the future")
    func future() async throws {
        let tomorrow = Int64((Date().timeIntervalSince1970 + 2 * 86_400) * 1e6)
        let server = try server(messages: ["\(tomorrow)"], endsFirst: true) {
            Self.missed(until: "\(tomorrow)")
        }
        let fleet = joined(server)
        defer { fleet.close() }
        await events.until { $0.count { $0 == .listening } >= 2 }
        #expect(asked(server) == ["0", "0"])
    }

    @Test("that can't say which invalidations were missed is asked again, and heard of only then")
    func missedLater() async throws {
        let replies = Lock(["-ERR busy\r\n", "-ERR busy\r\n"])
        let server = try server(messages: ["7"]) {
            replies.withLock { $0.popLast() } ?? Self.missed(until: "9", "http://example.com/b")
        }
        let fleet = joined(server)
        defer { fleet.close() }
        #expect(try await fleet.ready(within: .seconds(60)))
        await events.until { $0.count { $0 == .invalidated } == 2 }
        let changes = events.events.filter { !$0.isMeasurement }
        #expect(changes == [.deaf("ERR busy"), .invalidated, .listening, .invalidated])
        #expect(events.events.contains { $0.behind != nil })
        #expect(asked(server) == ["0", "0", "0"])
    }

    @Test("makes no listing endless: each page has to advance", arguments: ["1", "5", "-1"])
    func listing(generation: String) async throws {
        let response = response(5)
        let entry = "pipeline:r:\(response.key)"
        let words = [Array(generation.utf8), Array(entry.utf8), [53], CheckedHead.bytes(response, bodySum: 0)]
        let whole = Array("*4\r\n".utf8) + words.flatMap { Array("$\($0.count)\r\n".utf8) + $0 + [13, 10] }
        for page in [whole, Array("*1\r\n$\(generation.utf8.count)\r\n\(generation)\r\n".utf8)] {
            let server = try HostileRedis { $0.script == RedisScript.list.source ? .bytes(page) : nil }
            let fleet = fleet(server)
            defer { fleet.close() }
            let error = await #expect(throws: LoadError.self) {
                var last: Int64 = 0
                while let end = try await fleet.cache.entries(after: last).last { last = end.generation }
            }
            #expect(error?.code == .storeFailed)
            #expect(server.commands.count { $0.script == RedisScript.list.source } <= 3)
        }
    }

    @Test("makes no listing endless that grows by one entry, or by none, each page", arguments: [true, false])
    func growingListing(hasEntry: Bool) async throws {
        let packed = CheckedHead.bytes(response(1), bodySum: 0)
        let entry = Array("pipeline:r:\(response(1).key)".utf8)
        let pages = Lock(0)
        let server = try HostileRedis { command in
            guard command.script == RedisScript.list.source else { return nil }
            let number = pages.withLock { pages in
                pages += 1
                return Array("\(pages)".utf8)
            }
            let words = hasEntry ? [number, entry, number, packed] : [number]
            let text = words.flatMap { word -> [UInt8] in Array("$\(word.count)\r\n".utf8) + word + [13, 10] }
            return .bytes(Array("*\(words.count)\r\n".utf8) + text)
        }
        let fleet = fleet(server)
        defer { fleet.close() }
        let error = await #expect(throws: LoadError.self) {
            try await fleet.cache.eachPage(mostPages: 20) { _ in true }
        }
        #expect(error?.code == .storeFailed)
        #expect(pages.withLock(\.self) == (hasEntry ? 20 : RedisStore.mostEmptyPages))
    }

    @Test("makes no list of keys endless")
    func keys() async throws {
        let server = try HostileRedis { $0.words[0] == "SCAN" ? .text("*2\r\n$1\r\n7\r\n*0\r\n") : nil }
        let fleet = fleet(server)
        defer { fleet.close() }
        await #expect(throws: RedisFailure.self) { try await fleet.store.scan("*", mostPages: 50) { _ in } }
        #expect(server.commands.count { $0.words[0] == "SCAN" } == 50)
    }

    private func response(_ generation: Int64) -> StoredResponse {
        let now = Date()
        return StoredResponse(
            generation: generation, key: SourceKey(digest: BLAKE2bDigest(of: "a")), target: "http://example.com/a",
            status: 200, headers: [:], requestTime: now, responseTime: now, stored: now, expires: nil,
            freshUntil: now + 60,
            body: [1, 2, 3], selecting: SelectingFields(fields: []))
    }

    private static let scalars = [
        ":9223372036854775807", ":-9223372036854775808", ":-1", ":0", ":1", "$19\r\n9223372036854775807",
        "$20\r\n-9223372036854775808", "$0\r\n", "$-1", "*-1", "*0", "+OK", "+inserted", "+changed", "-ERR",
        String(repeating: "*1\r\n", count: 6) + ":1", "$2\r\n\u{01}\u{02}",
    ]

    /// Replies of every shape that a script's has, and of others.
    private static let replies: [String] = scalars.flatMap { value in
        [
            value, "*1\r\n\(value)", "*2\r\n:0\r\n\(value)", "*2\r\n\(value)\r\n\(value)",
            "*2\r\n+inserted\r\n\(value)", "*2\r\n+changed\r\n*3\r\n\(value)\r\n\(value)\r\n\(value)",
            "*3\r\n\(value)\r\n\(value)\r\n\(value)", "*4\r\n\(value)\r\n\(value)\r\n\(value)\r\n\(value)",
            "*4\r\n+1\r\n:10000\r\n\(value)\r\n*2\r\n+a\r\n\(value)",
        ]
    }

    /// Replies that never end, after which the server closes the connection.
    private static let endless = [
        "*2147483647\r\n", "*9223372036854775807\r\n", "$2147483647\r\nx", "$9223372036854775807\r\n",
        "*99999999999999999999\r\n", String(repeating: "*1\r\n", count: 10_000), ":12345678901234567890\r\n", "!\r\n",
    ]

    /// Whether a command signs in or loads a script.
    private static func isPreparation(_ command: HostileRedis.Command) -> Bool {
        ["PING", "SCRIPT", "SUBSCRIBE"].contains(command.words[0])
    }

    @Test("ends no process by any reply to any request", arguments: replies)
    func anyReply(_ reply: String) async throws {
        let server = try HostileRedis { Self.isPreparation($0) ? nil : .text(reply + "\r\n") }
        let fleet = fleet(server)
        defer { fleet.close() }
        await tryAll(fleet)
    }

    @Test("ends no process by a reply that doesn't end", arguments: endless)
    func endlessReply(_ reply: String) async throws {
        let server = try HostileRedis { Self.isPreparation($0) ? nil : .last(Array(reply.utf8)) }
        let fleet = fleet(server)
        defer { fleet.close() }
        await tryAll(fleet)
    }

    /// Uses a fleet in every way. Errors are allowed.
    private func tryAll(_ fleet: Fleet) async {
        let (store, key) = (fleet.store, SourceKey(digest: BLAKE2bDigest(of: "a")))
        let (response, now) = (response(1), Date())
        _ = try? await store.find(key, priority: .normal) { $0.first }
        _ = await store.insert(response, askedAt: now) { _ in [1] }
        _ = await store.update(response) { _ in true }
        _ = await store.remove(key) { _ in true }
        _ = await store.invalidate("http://example.com/a", at: now)
        _ = await store.recordFailure(status: 503, of: key, at: now)
        _ = try? await store.failures(of: key)
        await store.forgetFailures(of: key)
        _ = await store.remove([.min, 1, .max]) { _ in true }
        _ = try? await store.totals()
        _ = try? await store.result(named: "a", priority: .normal)
        _ = try? await fleet.inspectServer()
        _ = try? await fleet.leases.turn("a", patience: .zero) { false }
    }
}
