import CHiredis
import FleetServers
import Foundation
import HTTPTypes
import Pipeline
import PipelineShared
import Stages

/// What a hit of 20 KB in the shared tier costs, next to plain hiredis, on the same server in turns.
struct SharedHits {
    private let socket: String
    private let fleet: Fleet
    private let key = SourceKey(digest: BLAKE2bDigest(of: "hits"))
    private let body = (0..<20_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    private static let many = 64

    /// Starts a server, and prints the costs in this process, then those in four at once.
    static func run(seconds: Double) async throws {
        let server = try RedisServer()
        try await SharedHits(socket: server.socket).run(seconds: seconds)
        let members = try (0..<4).map { _ in try Child(["hits-member", server.socket, String(Int(seconds))]) }
        let said = members.map { $0.read() }
        for line in said { print("one of 4 processes, \(line)", terminator: "") }
    }

    /// Finds what another process has stored, over and over.
    static func runMember(socket: String, seconds: Double) async throws {
        let hits = SharedHits(socket: socket)
        print(
            "hit, \(many) at a time: \(try await hits.hits(many, seconds))"
        )
    }

    private init(socket: String) {
        self.socket = socket
        fleet = Fleet(RedisAddress(.socket(path: socket)), connecting: RedisLimits(request: .seconds(5)))
    }

    private func run(seconds: Double) async throws {
        guard let url = URL(string: "http://example.com/hits.jpg") else { throw TrialFailure("no URL") }
        let exchange = HTTPExchange(
            url: url, status: 200, headers: [.cacheControl: "max-age=86400", .contentType: "image/jpeg"],
            requestTime: Date(), responseTime: Date(), body: body)
        guard await fleet.cache.commit(exchange, for: key) != nil else { throw TrialFailure("nothing was stored") }
        let plain = try Plain(socket: socket, body: body)
        let (get, script) = (["GET", "plain"], ["EVALSHA", plain.script, "1", "plain"])
        for _ in 0..<3 {
            for count in [1, Self.many] {
                print("\(count) at a time")
                print("  GET:    \(plain.time(get, count, seconds))")
                print("  script: \(plain.time(script, count, seconds))")
                print("  hit:    \(try await hits(count, seconds))")
            }
        }
    }

    private func hits(_ tasks: Int, _ seconds: Double) async throws -> String {
        let (start, processor) = (Date(), Self.processorTime())
        let count = try await withThrowingTaskGroup { group in
            for _ in 0..<tasks {
                group.addTask { [cache = fleet.cache, key] in
                    var count = 0
                    while Date() < start + seconds {
                        guard case .fresh(let found, _) = try await cache.lookup(key), found.body.count == 20_000 else {
                            throw TrialFailure("a hit was none")
                        }
                        count += 1
                    }
                    return count
                }
            }
            return try await group.reduce(0, +)
        }
        return Self.text(count, start, processor)
    }

    /// The microseconds and the processor's microseconds of each, and how many a second.
    static func text(_ count: Int, _ start: Date, _ processor: Double) -> String {
        let (time, used) = (Date().timeIntervalSince(start), processorTime() - processor)
        let each = [time, used].map { String(Int($0 / Double(count) * 1e7)) }
            .map { $0.count > 1 ? "\($0.dropLast()).\($0.suffix(1))" : "0.\($0)" }
        return "\(each[0]) µs, \(each[1]) µs of this process's processor time, \(Int(Double(count) / time))/s"
    }

    static func processorTime() -> Double {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        return Double(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
            + Double(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6
    }
}

/// A connection by hiredis that blocks.
private final class Plain {
    private let context: UnsafeMutablePointer<redisContext>
    private(set) var script = ""

    init(socket: String, body: [UInt8]) throws {
        guard let context = redisConnectUnix(socket), context.pointee.err == 0 else {
            throw TrialFailure("no server listens on \(socket)")
        }
        self.context = context
        send([Array("SET".utf8), Array("plain".utf8), body]) { _ in }
        // The cheapest script that returns the same bytes.
        send([Array("SCRIPT".utf8), Array("LOAD".utf8), Array("return redis.call('GET', KEYS[1])".utf8)]) {
            script = String(cString: $0.pointee.str)
        }
    }

    deinit { redisFree(context) }

    /// What a command costs if this many are sent before the first reply is read.
    func time(_ command: [String], _ many: Int, _ seconds: Double) -> String {
        let arguments = command.map { Array($0.utf8) }
        let (start, processor) = (Date(), SharedHits.processorTime())
        var count = 0
        while Date() < start + seconds {
            for _ in 0..<many { append(arguments) }
            for _ in 0..<many { receive { if $0.pointee.len == 20_000 { count += 1 } } }
        }
        return SharedHits.text(count, start, processor)
    }

    private func send(_ arguments: [[UInt8]], _ body: (UnsafeMutablePointer<redisReply>) -> Void) {
        append(arguments)
        receive(body)
    }

    private func append(_ arguments: [[UInt8]]) {
        arguments.flatMap(\.self).withUnsafeBytes { bytes in
            var rest = bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
            var starts: [UnsafePointer<CChar>?] = []
            for argument in arguments {
                starts.append(rest)
                rest = rest.map { $0 + argument.count }
            }
            _ = redisAppendCommandArgv(context, Int32(arguments.count), &starts, arguments.map(\.count))
        }
    }

    private func receive(_ body: (UnsafeMutablePointer<redisReply>) -> Void) {
        var reply: UnsafeMutableRawPointer?
        guard redisGetReply(context, &reply) == REDIS_OK, let reply else { return }
        body(reply.assumingMemoryBound(to: redisReply.self))
        freeReplyObject(reply)
    }
}
