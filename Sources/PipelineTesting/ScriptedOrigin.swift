public import FoundationEssentials
import Pipeline

/// A real HTTP/1.1 server on 127.0.0.1 that answers as a test tells it, down to the wrong byte.
///
/// It takes a free port, keeps connections alive, writes down what it was asked, and ends with ``stop()`` or with its
/// last reference. It adds no `Date` and no other field of its own but `Content-Length`.
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
/// Nothing in it waits for time to pass: hold a reply with a ``Gate`` that the test opens, and wait for what the origin
/// has seen with ``until(_:)``.
public final class ScriptedOrigin: Sendable {
    /// Decides the answer to a request; called on a thread of the connection, where it may block only briefly.
    public typealias Handler = @Sendable (Request) -> Reply

    /// The port on 127.0.0.1.
    public let port: Int

    private let core: ScriptedOriginCore

    /// Starts an origin.
    /// - Parameter handler: answers the paths without a route; by default with 404.
    /// - Throws: `LoadError` with the code `unreachable` if the system gives no socket.
    public init(_ handler: @escaping Handler = { _ in Reply(status: 404) }) throws {
        let listener = try ScriptedOriginListener()
        port = listener.port
        core = ScriptedOriginCore(
            otherwise: handler, stopped: try ScriptedOriginSignal(), ended: try ScriptedOriginSignal())
        core.start { [core] in listener.serve(core) }
    }

    deinit { stop() }

    /// The URL of a path, which may hold a query.
    public func url(_ path: String, host: String = "127.0.0.1") -> URL {
        guard let url = URL(string: "http://\(host):\(port)\(path)") else {
            preconditionFailure("\(path) is not a path of a URL; start it with / and percent-encode it.")
        }
        return url
    }

    /// Answers requests for a path, whatever their query, from now on.
    public func route(_ path: String, _ handler: @escaping Handler) { core.route(path, handler) }

    /// Answers requests for a path with these replies in turn; the last one stays.
    public func script(_ path: String, _ replies: Reply...) { core.script(path, replies) }

    /// What has happened so far.
    public var log: Log { core.log }

    /// Waits until what has happened satisfies the test; returns as well when the origin stops or the task is
    /// cancelled, so check afterwards what the log says.
    public func until(_ condition: @escaping @Sendable (Log) -> Bool) async { await core.until(condition) }

    /// Closes all connections and waits for the origin's threads to end.
    public func stop() { core.stop() }
}
