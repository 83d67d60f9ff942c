import FleetServers
import Foundation
import PipelineShared

/// What happens while processes load images through a shared tier.
enum FleetFault: String, CaseIterable {
    /// Nothing.
    case none
    /// Each process is killed while it holds leases and asks the origin, and another takes its place.
    case killed
    /// Redis pauses its clients for some seconds.
    case paused
    /// Redis is stopped, and continues once all loads have ended.
    case stopped
    /// Redis is killed and started again, empty.
    case restarted
    /// Redis has no memory left for writes, and evicts nothing.
    case full
    /// A reply of Redis takes 200 ms, longer than the deadlines.
    case slow
    /// A reply takes 200 ms, and the deadlines allow for it.
    case slowButPatient = "slow-but-patient"
    /// Every other process is cut off, until all loads have ended.
    case cut
    /// Redis is in another network, whose link is down until all loads have ended.
    case unplugged

    /// Whether it begins once some images are fetched.
    var isSudden: Bool {
        switch self {
        case .paused, .stopped, .restarted, .full, .cut, .unplugged: true
        case .none, .killed, .slow, .slowButPatient: false
        }
    }

    /// Whether machines share everything all the time.
    var isHarmless: Bool { self == .none || self == .slowButPatient }

    /// How long processes wait for Redis, in milliseconds; `nil` for the library's deadlines. Where no deadline is to
    /// pass, a busy machine must not let one pass either.
    var patience: Int? {
        switch self {
        case .paused, .stopped, .slow, .cut, .unplugged: nil
        case .none, .killed, .restarted, .full, .slowButPatient: 30_000
        }
    }

    /// How long a lease outlives its process, in milliseconds. Where no lease is to end, it is long.
    var lifetime: Int { self == .killed ? 2000 : isHarmless ? 60_000 : 5000 }
}

/// What a fault happens to.
struct FleetLinks {
    let server: RedisServer
    let namespace: NetworkNamespace?
    let relay: Relay

    init(for fault: FleetFault) throws {
        namespace = fault == .unplugged ? try NetworkNamespace() : nil
        server = try RedisServer(in: namespace)
        relay = try Relay(to: server)
        if fault == .slow || fault == .slowButPatient { relay.setDelay(milliseconds: 100) }
    }

    /// The URL by which a process reaches Redis.
    func url(of process: Int, under fault: FleetFault) -> String {
        let isRelayed = fault == .slow || fault == .slowButPatient || fault == .cut && process % 2 == 0
        return (isRelayed ? relay.address : server.address).description
    }

    /// Begins a sudden fault.
    /// - Parameter seconds: How long a pause takes.
    func begin(_ fault: FleetFault, seconds: Int) throws {
        switch fault {
        case .paused: try server.send("CLIENT PAUSE \(seconds * 1000) ALL")
        case .stopped: server.setStopped(true)
        case .restarted:
            server.kill()
            try server.start()
        case .full: try server.send("CONFIG SET maxmemory 1")
        case .cut: relay.setCut(true)
        case .unplugged: try namespace?.setCut(true)
        case .none, .killed, .slow, .slowButPatient: break
        }
    }

    /// Ends a fault.
    func end(_ fault: FleetFault) throws {
        switch fault {
        case .stopped: server.setStopped(false)
        case .full: try server.send("CONFIG SET maxmemory 0")
        case .slow: relay.setDelay(milliseconds: 0)
        case .cut: relay.setCut(false)
        case .unplugged: try namespace?.setCut(false)
        case .none, .killed, .paused, .restarted, .slowButPatient: break
        }
    }
}
