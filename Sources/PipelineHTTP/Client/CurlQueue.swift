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
        lines[Host(transfer), default: Line()].waiting.enqueue(transfer, transfer.request.priority, number: lastNumber)
    }

    /// Returns a transfer that may start now and counts it as running; `nil` if none may.
    mutating func next() -> CurlTransfer? {
        guard running < maximum else { return nil }
        let firsts = lines.values.compactMap { $0.running < limit($0) ? $0.waiting.first : nil }
        guard let transfer = firsts.max(by: { $0.place < $1.place })?.element else { return nil }
        lines[Host(transfer)]?.waiting.remove(transfer)
        lines[Host(transfer)]?.running += 1
        running += 1
        return transfer
    }

    /// Removes a transfer that has not started; returns false if it isn't here.
    mutating func remove(_ transfer: CurlTransfer) -> Bool {
        let host = Host(transfer)
        defer { forgetIfIdle(host) }
        return lines[host]?.waiting.remove(transfer) ?? false
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
        lines.keys.flatMap { lines[$0]?.waiting.removeAll() ?? [] }
    }

    private func limit(_ line: Line) -> Int {
        line.sharesConnections ? max(maximumPerHost, Self.maximumStreams) : maximumPerHost
    }

    private mutating func forgetIfIdle(_ host: Host) {
        guard let line = lines[host], line.running == 0, line.waiting.count == 0 else { return }
        lines[host] = nil
    }
}
