import Essentials
import HTTPTypes
import Pipeline
import Stages
import Testing

/// A story of requests, an origin and the time, told as data, with the response and the requests that each step expects.
struct Scenario: Sendable, CustomTestStringConvertible {
    /// By which rules the cache tells requests apart.
    enum Users: Sendable { case several, one, shared }

    /// What a front can't express runs through the other one alone.
    enum Front: String, Sendable, CaseIterable { case loader, cachingClient }

    let name: String
    let users: Users
    let fronts: [Front]
    let steps: [Step]

    init(_ name: String, users: Users = .several, only front: Front? = nil, _ steps: Step...) {
        self.name = name
        self.users = users
        fronts = front.map { [$0] } ?? Front.allCases
        self.steps = steps
    }

    var testDescription: String { name }

    enum Step: Sendable {
        /// The origin answers requests for a path with these replies in turn; the last one stays.
        case serve(String, [Reply])
        /// A request, whole.
        case get(Request, Answer, asks: [String])
        /// A request that the origin holds back, so that the next steps happen meanwhile.
        case begin(String, Request, asks: [String])
        /// A request that was begun, to its end.
        case finish(String, Answer, asks: [String])
        /// Equal requests at the same time, all with the same answer.
        case together(Int, Request, Answer, asks: [String])
        /// A request with another method than GET, which only ``CachingClient`` sends: over the same cache.
        case send(String, Request, status: Int, asks: [String])
        /// Seconds pass; fewer than none set the clock back.
        case pass(Double)
        /// A program removes what is stored for a URL.
        case remove(String, by: String)
        /// A program removes all that is stored.
        case removeAll(by: String)
        /// A program restarts: its memory is empty, the folder is as it was.
        case restart(String)
    }

    struct Request: Sendable {
        let path: String
        let fields: [String]
        /// The program that sends it: one has its own memory and its own ``HTTPCache`` over the same folder.
        let program: String
        var identifier: String?
        var partition: String?
        var expiry: Expiry?
    }

    /// What a front answers, in words that both have.
    struct Answer: Sendable, Hashable, CustomStringConvertible {
        enum Content: Sendable, Hashable {
            case image(String)
            case status(Int)
            case unreachable
            case notCached
            case error(String)
        }

        enum Source: String, Sendable { case origin, cache, revalidated, stale }

        let content: Content
        /// `nil` where the fronts have no common word for it.
        let source: Source?

        var description: String { "\(content)" + (source.map { " from \($0)" } ?? "") }

        func matches(_ expected: Answer) -> Bool {
            content == expected.content && (expected.source == nil || expected.source == source)
        }
    }

    /// What the origin sends.
    struct Reply: Sendable {
        var status = 200
        /// What the picture shows; `nil` for no content.
        var image: String?
        var fields: [String] = []
        /// Whether the origin is out of reach.
        var isUnreachable = false
        /// How long the reply takes, in seconds.
        var delay: Double = 0
        /// Whether the reply waits until its request is finished.
        var isHeld = false
    }
}

extension Scenario.Step {
    static func serve(_ path: String, _ replies: Scenario.Reply...) -> Self { .serve(path, replies) }

    static func get(
        _ path: String, _ fields: String..., by program: String = "a", identifier: String? = nil,
        partition: String? = nil, expiry: Expiry? = nil, gives content: Scenario.Answer.Content,
        _ source: Scenario.Answer.Source? = nil, asks: [String] = []
    ) -> Self {
        .get(
            .init(
                path: path, fields: fields, program: program, identifier: identifier, partition: partition,
                expiry: expiry), .init(content: content, source: source), asks: asks)
    }

    static func begin(
        _ name: String, _ path: String, _ fields: String..., by program: String = "a", asks: [String]
    ) -> Self {
        .begin(name, .init(path: path, fields: fields, program: program), asks: asks)
    }

    static func finish(
        _ name: String, gives content: Scenario.Answer.Content, _ source: Scenario.Answer.Source? = nil,
        asks: [String] = []
    ) -> Self {
        .finish(name, .init(content: content, source: source), asks: asks)
    }

    static func together(
        _ count: Int, _ path: String, _ fields: String..., gives content: Scenario.Answer.Content, asks: [String]
    ) -> Self {
        .together(
            count, .init(path: path, fields: fields, program: "a"), .init(content: content, source: nil), asks: asks)
    }

    static func send(
        _ method: String, _ path: String, _ fields: String..., by program: String = "a", status: Int,
        asks: [String]? = nil
    ) -> Self {
        .send(
            method, .init(path: path, fields: fields, program: program), status: status,
            asks: asks ?? ["\(method) \(path)"])
    }

    static func remove(_ path: String) -> Self { .remove(path, by: "a") }
    static func removeAll() -> Self { .removeAll(by: "a") }
    static func restart() -> Self { .restart("a") }
}

extension Scenario.Reply {
    /// A picture with this label on it.
    static func image(_ label: String, _ fields: String...) -> Self { .init(image: label, fields: fields) }

    static func notModified(_ fields: String...) -> Self { .init(status: 304, fields: fields) }

    static func status(_ status: Int, _ fields: String...) -> Self { .init(status: status, fields: fields) }

    static func redirect(_ status: Int = 302, _ location: String, _ fields: String...) -> Self {
        .init(status: status, fields: ["Location: \(location)"] + fields)
    }

    static var unreachable: Self { .init(isUnreachable: true) }

    /// The same after this many seconds.
    func after(_ seconds: Double) -> Self {
        var reply = self
        reply.delay = seconds
        return reply
    }

    /// The same, but not before its request is finished.
    var held: Self {
        var reply = self
        reply.isHeld = true
        return reply
    }
}
