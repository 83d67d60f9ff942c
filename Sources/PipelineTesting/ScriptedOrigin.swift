public import Essentials
import Pipeline

/// A real HTTP/1.1 server on 127.0.0.1 that replies as a test scripts it, byte for byte if need be.
///
/// It takes a free port, keeps connections alive, logs its requests, and ends with ``stop()`` or with its last
/// reference. `Content-Length` is the only field that it adds.
///
/// ```swift
/// let origin = try ScriptedOrigin()
/// origin.route("/cat.jpg") { request in
///     request.headers[.ifNoneMatch] == nil
///         ? .init(headers: [.eTag: "\"1\""], body: photograph)
///         : .init(status: 304)
/// }
/// origin.script("/flaky", .init(status: 503), .init(body: "at last"))
/// … load origin.url("/cat.jpg") …
/// #expect(origin.log.requests.count == 1)
/// ```
///
/// It never waits for time to pass: hold a reply with a ``Gate`` that the test opens, and wait for requests with
/// ``until(_:)``.
public final class ScriptedOrigin: Sendable {
    /// Returns the reply to a request. It is called on the connection's thread, where it may block only briefly.
    public typealias Handler = @Sendable (Request) -> Reply

    /// The port on 127.0.0.1.
    public let port: Int

    private let core: ScriptedOriginCore

    /// Starts an origin.
    /// - Parameter handler: Replies to paths without a route; by default with 404.
    /// - Throws: `LoadError` with the code `unreachable` if no socket is available.
    public init(_ handler: @escaping Handler = { _ in Reply(status: 404) }) throws {
        let listener = try ScriptedOriginListener()
        port = listener.port
        core = ScriptedOriginCore(
            otherwise: handler, stopped: try ScriptedOriginSignal(), ended: try ScriptedOriginSignal())
        core.start { [core] in listener.serve(core) }
    }

    deinit { stop() }

    /// Returns the URL of a path, which may contain a query.
    public func url(_ path: String, host: String = "127.0.0.1") -> URL {
        guard let url = URL(string: "http://\(host):\(port)\(path)") else {
            preconditionFailure("\(path) is not a path of a URL; start it with / and percent-encode it.")
        }
        return url
    }

    /// From now on, replies to requests for a path with `handler`, whatever their query.
    public func route(_ path: String, _ handler: @escaping Handler) { core.route(path, handler) }

    /// From now on, replies to requests for a path with these replies in turn. The last one is repeated.
    public func script(_ path: String, _ replies: Reply...) { core.script(path, replies) }

    /// The requests and connections so far.
    public var log: Log { core.log }

    /// Waits until the log satisfies `condition`. Also returns when the origin stops or the task is cancelled, so check
    /// the log afterwards.
    public func until(_ condition: @escaping @Sendable (Log) -> Bool) async { await core.until(condition) }

    /// Closes all connections and waits for the origin's threads to end.
    public func stop() { core.stop() }
}
