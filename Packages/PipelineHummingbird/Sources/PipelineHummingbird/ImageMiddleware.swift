public import Hummingbird
import HTTPTypes
public import NIOCore
public import PipelineServer

/// Answers the paths of an `ImageResponder`, and hands on all others.
///
/// ```swift
/// let router = Router(context: ConnectionRequestContext.self)
/// router.add(middleware: ImageMiddleware(responder))
/// router.get("/hello") { _, _ in "Hello" }
/// let app = Application(router: router, server: .http1(images: responder))
/// ```
///
/// It is a responder too, for an application without other routes: then every path is the `ImageResponder`'s.
public struct ImageMiddleware<Context: ConnectionContext>: RouterMiddleware, HTTPResponder {
    private let images: ImageResponder

    /// Makes a middleware of a responder.
    public init(_ images: ImageResponder) { self.images = images }

    /// Answers a request if its path is a picture's or a probe's.
    @concurrent public func handle(
        _ request: Request, context: Context, next: @concurrent (Request, Context) async throws -> Response
    ) async throws -> Response {
        guard images.answers(request.uri.path) else { return try await next(request, context) }
        return try await respond(to: request, context: context)
    }

    /// Answers a request of any path.
    @concurrent public func respond(to request: Request, context: Context) async throws -> Response {
        let connection = ClientConnection(context.channel, address: context.channel.remoteAddress?.ipAddress)
        return Response(await images.respond(to: request.head, over: connection))
    }
}

extension Response {
    /// Makes Hummingbird's response of a server's.
    public init(_ response: ServerResponse) {
        let fields = response.head.headerFields
        // Without bytes Hummingbird sends the length that the fields say.
        if response.body.bytes.isEmpty {
            self.init(status: response.head.status, headers: fields)
        } else {
            let buffer = response.body.form { ByteBuffer(bytes: $0) }
            self.init(status: response.head.status, headers: fields, body: ResponseBody(byteBuffer: buffer))
        }
    }
}

/// A request's context that knows the request's connection: a client that goes away cancels its work.
public protocol ConnectionContext: RequestContext {
    /// The connection.
    var channel: any Channel { get }
}

/// A context with the connection and nothing else of its own.
public struct ConnectionRequestContext: ConnectionContext {
    /// Hummingbird's own part.
    public var coreContext: CoreRequestContextStorage
    /// The connection.
    public let channel: any Channel

    /// Makes the context of a request.
    public init(source: Source) {
        coreContext = .init(source: source)
        channel = source.channel
    }
}
