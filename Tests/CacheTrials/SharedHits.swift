import CHiredis
import Foundation
import HTTPTypes
import Pipeline
import PipelineShared
import Stages

/// What a hit of 20 KB in the shared tier costs, next to plain hiredis, on the same server in turns.
struct SharedHits {
    private let socket: String
    private let body = (0..<20_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }

    init(socket: String) { self.socket = socket }

    func run(seconds: Double) async throws {
        let fleet = Fleet(RedisAddress(.socket(path: socket)), connecting: RedisLimits(request: .seconds(5)))
        let key = SourceKey(digest: Digest(of: "hits"))
        guard let url = URL(string: "http://example.com/hits.jpg") else { throw TrialFailure("no URL") }
        let exchange = HTTPExchange(
            url: url, status: 200, headers: [.cacheControl: "max-age=86400", .contentType: "image/jpeg"],
            requestTime: Date(), responseTime: Date(), body: body)
        guard await fleet.cache.commit(exchange, for: key) != nil else { throw TrialFailure("nothing was stored") }
        let plain = try Plain(socket: socket, body: body)
        for _ in 0..<2 {
            print("GET, one at a time:    \(plain.time(["GET", "plain"], seconds))")
            print("script, one at a time: \(plain.time(["EVALSHA", plain.script, "1", "plain"], seconds))")
            print("hit, one at a time:    \(try await hits(fleet.cache, key, tasks: 1, seconds))")
            print("hit, 64 at a time:     \(try await hits(fleet.cache, key, tasks: 64, seconds))")
        }
    }

    private func hits(_ cache: HTTPCache, _ key: SourceKey, tasks: Int, _ seconds: Double) async throws -> String {
        let (start, processor) = (Date(), Self.processorTime())
        let count = try await withThrowingTaskGroup { group in
            for _ in 0..<tasks {
                group.addTask {
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

    func time(_ command: [String], _ seconds: Double) -> String {
        let arguments = command.map { Array($0.utf8) }
        let (start, processor) = (Date(), SharedHits.processorTime())
        var count = 0
        while Date() < start + seconds {
            send(arguments) { if $0.pointee.len == 20_000 { count += 1 } }
        }
        return SharedHits.text(count, start, processor)
    }

    private func send(_ arguments: [[UInt8]], _ body: (UnsafeMutablePointer<redisReply>) -> Void) {
        let joined = arguments.flatMap(\.self)
        let reply = joined.withUnsafeBytes { bytes in
            var rest = bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
            var starts: [UnsafePointer<CChar>?] = []
            for argument in arguments {
                starts.append(rest)
                rest = rest.map { $0 + argument.count }
            }
            return redisCommandArgv(context, Int32(arguments.count), &starts, arguments.map(\.count))
        }
        guard let reply else { return }
        body(reply.assumingMemoryBound(to: redisReply.self))
        freeReplyObject(reply)
    }
}
