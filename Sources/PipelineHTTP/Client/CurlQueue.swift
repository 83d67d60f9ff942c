import Pipeline

/// Transfers that wait for a connection: highest priority first, then first in, first out.
struct CurlQueue {
    private struct Line {
        var waiting = PriorityLine<CurlTransfer>()
        var running = 0
        var sharesConnections = false
    }

    /// How many streams HTTP/2 servers commonly accept on one connection (RFC 9113 section 6.5.2 advises at least 100).
    private static let maximumStreams = 100

    private let maximumPerHost: Int
    private let maximum: Int
    private var lines: [Host: Line] = [:]
    private var running = 0
    /// How many transfers wait in all lines: the loop asks for the next one more often than there is one.
    private var waiting = 0
    private var lastNumber: UInt64 = 0

    private struct Host: Hashable {
        let scheme: String
        let host: String
        let port: Int
        let hasOwnConnection: Bool

        init(_ transfer: CurlTransfer) {
            scheme = transfer.target.scheme
            host = transfer.target.host
            port = transfer.target.port
            hasOwnConnection = transfer.request.needsBackPressure
        }
    }

    init(maximumPerHost: Int, maximum: Int) {
        self.maximumPerHost = max(1, maximumPerHost)
        self.maximum = max(1, maximum)
    }

    mutating func append(_ transfer: CurlTransfer) {
        lastNumber += 1
        waiting += 1
        lines[Host(transfer), default: Line()].waiting.enqueue(transfer, transfer.request.priority, number: lastNumber)
    }

    /// Returns a transfer that may start now and counts it as running; `nil` if none may.
    mutating func next() -> CurlTransfer? {
        guard running < maximum, waiting > 0 else { return nil }
        var next: (line: Dictionary<Host, Line>.Index, place: PriorityPlace)?
        for index in lines.indices where lines.values[index].running < limit(lines.values[index]) {
            guard let place = lines.values[index].waiting.first?.place else { continue }
            if next.map({ $0.place < place }) ?? true { next = (index, place) }
        }
        guard let line = next?.line else { return nil }
        waiting -= 1
        running += 1
        lines.values[line].running += 1
        return lines.values[line].waiting.popFirst()
    }

    /// Removes a transfer that has not started; returns false if it isn't here.
    mutating func remove(_ transfer: CurlTransfer) -> Bool {
        let host = Host(transfer)
        defer { forgetIfIdle(host) }
        guard lines[host]?.waiting.remove(transfer) == true else { return false }
        waiting -= 1
        return true
    }

    /// Changes the priority of a transfer that has not started.
    mutating func prioritize(_ transfer: CurlTransfer, _ priority: LoadPriority) {
        lines[Host(transfer)]?.waiting.move(transfer, to: priority)
    }

    /// Counts a running transfer as ended.
    mutating func release(_ transfer: CurlTransfer) {
        let host = Host(transfer)
        lines[host]?.running -= 1
        running -= 1
        forgetIfIdle(host)
    }

    /// Notes that this transfer's host accepts many transfers on one connection.
    mutating func sharesConnection(_ transfer: CurlTransfer) { lines[Host(transfer)]?.sharesConnections = true }

    /// Removes and returns all waiting transfers.
    mutating func removeAll() -> [CurlTransfer] {
        waiting = 0
        return lines.keys.flatMap { lines[$0]?.waiting.removeAll() ?? [] }
    }

    private func limit(_ line: Line) -> Int {
        line.sharesConnections ? max(maximumPerHost, Self.maximumStreams) : maximumPerHost
    }

    private mutating func forgetIfIdle(_ host: Host) {
        guard let line = lines[host], line.running == 0, line.waiting.count == 0 else { return }
        lines[host] = nil
    }
}
