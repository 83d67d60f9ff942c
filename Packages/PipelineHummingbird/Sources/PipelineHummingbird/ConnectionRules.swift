import DequeModule
import HTTPTypes
public import HummingbirdCore
public import NIOCore
import NIOHTTP1
import NIOHTTPTypesHTTP1
public import PipelineServer

extension HTTPServerBuilder {
    /// HTTP/1.1 for an `ImageResponder`: work ends when its client goes away, and connections end as RFC 9112 says, with
    /// clients of HTTP/1.0 and while the server drains.
    /// - Parameters:
    ///   - images: What answers.
    ///   - idleTimeout: How long a connection may send nothing; a minute by default.
    public static func http1(images: ImageResponder, idleTimeout: TimeAmount = .seconds(60)) -> HTTPServerBuilder {
        .http1(
            configuration: .init(
                additionalChannelHandlers: [AddConnectionRules(images), ClientGone(images)], idleTimeout: idleTimeout))
    }
}

/// Notices that a client has closed its connection, or its sending side.
private final class ClientGone: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = Any

    private let images: ImageResponder

    init(_ images: ImageResponder) { self.images = images }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case ChannelEvent.inputClosed? = event as? ChannelEvent {
            images.inputClosed(on: ObjectIdentifier(context.channel))
        }
        context.fireUserInboundEventTriggered(event)
    }

    func channelInactive(context: ChannelHandlerContext) {
        images.inputClosed(on: ObjectIdentifier(context.channel))
        images.removed(ObjectIdentifier(context.channel))
        context.fireChannelInactive()
    }
}

/// Adds ``ConnectionRules`` to a connection, before its messages lose what distinguishes HTTP/1.0.
private final class AddConnectionRules: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = Any

    private let images: ImageResponder

    init(_ images: ImageResponder) { self.images = images }

    func handlerAdded(context: ChannelHandlerContext) {
        let pipeline = context.pipeline.syncOperations
        do {
            let codec = try pipeline.handler(type: HTTP1ToHTTPServerCodec.self)
            try pipeline.addHandler(ConnectionRules(images), position: .before(codec))
        } catch {
            context.fireErrorCaught(error)
        }
    }
}

/// What HTTP/1 says of connections and of fields that frame a request, beyond what Hummingbird does (RFC 9112 sections 3.2
/// and 9.3).
///
/// - A connection of HTTP/1.0 ends with its response, unless the client asks for another.
/// - A path that is too long is answered with 414, too many or too long fields with 431, a method that nobody knows with
///   501, and what can't be read at all with 400.
/// - While the server drains, each response says that its connection ends.
private final class ConnectionRules: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    private let images: ImageResponder
    /// What the response of each request that was handed on says of its connection, the earliest first: a client may send
    /// several requests before the first response.
    private var responses: Deque<ConnectionField> = []
    private var isRefused = false
    private enum ConnectionField {
        case none, keepAlive, close
    }

    /// In bytes; file systems and origins take no longer ones.
    private static let longestTarget = 8192

    init(_ images: ImageResponder) { self.images = images }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isRefused else { return }
        guard case .head(let head) = unwrapInboundIn(data) else { return context.fireChannelRead(data) }
        guard head.uri.utf8.count <= Self.longestTarget else {
            let text = "The path has more than \(Self.longestTarget) bytes."
            return refuse(Problem(.init(code: 414, reasonPhrase: "URI Too Long"), text), context)
        }
        let options = head.headers[canonicalForm: "connection"].map { $0.lowercased() }
        let isOld = (head.version.major, head.version.minor) < (1, 1)
        let isKeptAlive = isOld && options.contains("keep-alive")
        let isLast = images.isDraining || options.contains("close") || isOld && !isKeptAlive
        responses.append(isLast ? .close : isKeptAlive ? .keepAlive : .none)
        let isNameless = isOld && !head.headers.contains(name: "host")
        guard isLast || isNameless else { return context.fireChannelRead(data) }
        var completed = head
        // The server reads this field, in this spelling, to end the connection after the response.
        if isLast { completed.headers.replaceOrAdd(name: "connection", value: "close") }
        if isNameless { completed.headers.add(name: "host", value: images.standardHost) }
        context.fireChannelRead(wrapInboundOut(.head(completed)))
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .head(var head):
            switch images.isDraining ? .close : responses.first {
            case .close: head.headers.replaceOrAdd(name: "connection", value: "close")
            case .keepAlive: head.headers.replaceOrAdd(name: "connection", value: "keep-alive")
            case .some(.none), nil: return context.write(data, promise: promise)
            }
            context.write(wrapOutboundOut(.head(head)), promise: promise)
        case .end:
            _ = responses.popFirst()
            context.write(data, promise: promise)
        case .body: context.write(data, promise: promise)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard let error = error as? HTTPParserError, responses.isEmpty, !isRefused else {
            return context.fireErrorCaught(error)
        }
        let problem =
            switch error {
            case .headerOverflow:
                Problem(.requestHeaderFieldsTooLarge, "The request's fields are too many or too long.")
            case .invalidMethod: Problem(.notImplemented, "Pictures are read with GET or HEAD.")
            default: Problem(.badRequest, "The request is malformed.")
            }
        refuse(problem, context)
    }

    /// Answers without asking the server, and ends the connection.
    private func refuse(_ problem: Problem, _ context: ChannelHandlerContext) {
        isRefused = true
        let body = ByteBuffer(string: problem.json())
        let fields: HTTPHeaders = [
            "content-type": "application/problem+json", "content-length": "\(body.readableBytes)",
            "cache-control": "no-store", "x-content-type-options": "nosniff", "connection": "close",
        ]
        let status = HTTPResponseStatus(statusCode: problem.status.code, reasonPhrase: problem.status.reasonPhrase)
        context.write(
            wrapOutboundOut(.head(HTTPResponseHead(version: .http1_1, status: status, headers: fields))), promise: nil)
        context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil)
        let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
        context.writeAndFlush(wrapOutboundOut(.end(nil))).whenComplete { _ in
            bound.value.close(mode: .output, promise: nil)
        }
    }
}
