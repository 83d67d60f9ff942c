import FleetServers
import Foundation
import HTTPTypes
import Pipeline
import PipelineShared
import PipelineTesting

/// Processes that start at the same time, share a tier, and want the same images, while something fails.
///
/// Half of the images are too large for Redis and are kept in S3, if its server is installed. After the fault has ended,
/// the processes want other images, one process after the other, and share them.
struct FleetTrial {
    let fault: FleetFault
    let processes: Int
    let loads: Int
    let images: Int
    /// How long Redis pauses.
    let seconds: Int
    private let requests = Lock(0)

    init(fault: FleetFault, processes: Int, loads: Int, images: Int, seconds: Int) {
        (self.fault, self.processes, self.loads) = (fault, processes, loads)
        (self.images, self.seconds) = (images, seconds)
    }

    /// Lets them work; what was survived, in a sentence.
    func run() async throws -> String {
        let links = try FleetLinks(for: fault)
        let blobs = S3Server.isInstalled ? try await S3Server(.moto) : nil
        let gate = try ScriptedOrigin.Gate()
        // The origin may live longer than this run, and must not keep the server.
        let hasBlobs = blobs != nil
        let origin = try ScriptedOrigin { reply(to: $0, hasBlobs: hasBlobs, gate) }
        var children: [Child] = []
        defer { for child in children { child.kill() } }
        for number in 0..<processes { children.append(try child(number, "first", links, origin, blobs)) }
        // Loads that hang end with their processes, which then said nothing.
        let watchdog = Task { [children] in
            try await Task.sleep(for: .seconds(300))
            for child in children { child.kill() }
            origin.stop()
        }
        defer { watchdog.cancel() }

        let waves = (0..<processes).map { FleetMember.Wave(first: 0, images: images, loads: loads, offset: $0 * loads) }
        for (child, wave) in zip(children, waves) { try say(wave, to: child) }
        if fault == .killed {
            try await kill(children, origin)
            for child in children { child.process.waitUntilExit() }
            children = try (0..<processes).map { try self.child($0, "second", links, origin, blobs) }
            for (child, wave) in zip(children, waves) { try say(wave, to: child) }
        } else if fault.isSudden {
            await origin.until { $0.requests.count > images / 4 }
            try links.begin(fault, seconds: seconds)
            gate.open()
        }
        let reports = try children.map { try report(of: $0) }
        let all = origin.log.requests
        let asked = all.filter { !$0.isConfirmation }
        try check(asked, waves, reports)
        let before = all.count
        try links.end(fault)
        let afterwards = try shareAgain(children)
        for child in children { child.finish() }
        for child in children {
            child.process.waitUntilExit()
            guard child.process.terminationStatus == 0 else { throw failure("a process ended with an error") }
        }
        let after = origin.log.requests.count - before
        guard after < afterwards else { throw failure("nothing was shared afterwards: \(after) requests") }
        return "survived \(fault.rawValue): \(processes) processes with \(loads) loads each of \(images) images, "
            + "\(blobs == nil ? "none" : "half of them") in S3: \(asked.count) requests at the origin and "
            + "\(all.count - asked.count) confirmations, "
            + "\(reports.reduce(0) { $0 + $1.encodes }) results made, the slowest load took "
            + "\(reports.map(\.slowest).max() ?? 0) ms; afterwards \(after) requests, \(afterwards) without sharing."
    }

    private func reply(
        to request: ScriptedOrigin.Request, hasBlobs: Bool, _ gate: ScriptedOrigin.Gate
    ) -> ScriptedOrigin.Reply {
        let number = Int(request.path.dropFirst().prefix { $0 != "." }) ?? 0
        let headers: HTTPFields = [.cacheControl: "max-age=600", .eTag: "\"\(number)\""]
        if request.isConfirmation { return .init(status: 304, headers: headers) }
        let picture = Picture.png(FleetMember.size(number, hasBlobs: hasBlobs), with: FleetMember.color(number))
        let reply = ScriptedOrigin.Reply(headers: headers, body: picture)
        let count = requests.withLock {
            $0 += 1; return $0
        }
        if fault == .killed, request.headers[.userAgent]?.hasPrefix("first") == true { return reply.stalled() }
        return fault.isSudden && count > images / 4 ? reply.held(until: gate) : reply
    }

    private func child(
        _ number: Int, _ name: String, _ links: FleetLinks, _ origin: ScriptedOrigin, _ blobs: S3Server?
    ) throws -> Child {
        let settings = FleetMember.Settings(
            redis: links.url(of: number, under: fault), port: origin.port, name: "\(name)-\(number)",
            patience: fault.patience, lifetime: fault.lifetime,
            // So that a process which is killed has asked for one image alone.
            connections: fault == .killed ? 1 : 6,
            bucket: blobs.map { "s3://images/fleet?endpoint=\($0.endpoint.url)" })
        let text = String(decoding: try JSONEncoder().encode(settings), as: UTF8.self)
        return try Child(["fleet-member", text])
    }

    private func say(_ wave: FleetMember.Wave, to child: Child) throws {
        child.say(String(decoding: try JSONEncoder().encode(wave), as: UTF8.self))
    }

    private func report(of child: Child) throws -> FleetMember.Report {
        let said = child.read(lines: 1)
        guard let report = try? JSONDecoder().decode(FleetMember.Report.self, from: Data(said.utf8)) else {
            throw failure("a process failed, or took longer than 300 s")
        }
        return report
    }

    /// Kills each process once it holds leases and waits for the origin. The others take its leases, and are killed.
    private func kill(_ children: [Child], _ origin: ScriptedOrigin) async throws {
        var killed: Set<String> = []
        while killed.count < children.count {
            await origin.until { [killed] log in log.requests.contains { !killed.contains(name(of: $0)) } }
            for request in origin.log.requests where killed.insert(name(of: request)).inserted {
                let number = Int(name(of: request).drop { !$0.isNumber }) ?? 0
                guard children[number].process.isRunning else { throw failure("a process ended by itself") }
                children[number].kill()
            }
        }
    }

    private func check(
        _ asked: [ScriptedOrigin.Request], _ waves: [FleetMember.Wave], _ reports: [FleetMember.Report]
    ) throws {
        let counts = Dictionary(asked.map { ("\(name(of: $0)) \($0.path)", 1) }, uniquingKeysWith: +)
        if let (twice, count) = counts.first(where: { $0.value > 1 }) {
            throw failure("\(count) requests by one process for the same image: \(twice)")
        }
        let wanted = waves.reduce(into: Set<Int>()) { $0.formUnion($1.wanted) }.count
        guard asked.count >= wanted else { throw failure("\(asked.count) requests for \(wanted) images") }
        if fault == .killed, asked.count > wanted + processes {
            throw failure("\(asked.count) requests for \(wanted) images and \(processes) kills")
        }
        guard fault.isHarmless else { return }
        let results = Set(waves.flatMap { wave in (0..<loads).map { "\(wave.place($0))" } }).count
        let encodes = reports.reduce(0) { $0 + $1.encodes }
        guard asked.count == wanted, encodes == results else {
            throw failure("\(asked.count) requests for \(wanted) images, \(encodes) encodes for \(results) results")
        }
    }

    /// Lets each process want other images in its turn.
    /// - Returns: How many requests they would send without sharing.
    private func shareAgain(_ children: [Child]) throws -> Int {
        var count = 0
        for (number, child) in children.enumerated() {
            child.say("wait")
            guard child.read(lines: 1) == "used\n" else { throw failure("a process doesn't use Redis again") }
            // Few at a time: on a busy machine, deadlines pass that are none of the fault's.
            let wave = FleetMember.Wave(first: images, images: images, loads: 8, offset: number % 2)
            try say(wave, to: child)
            _ = try report(of: child)
            count += wave.wanted.count
        }
        return count
    }

    private func name(of request: ScriptedOrigin.Request) -> String { request.headers[.userAgent] ?? "" }

    private func failure(_ text: String) -> TrialFailure { TrialFailure("\(fault.rawValue): \(text)") }
}

extension ScriptedOrigin.Request {
    /// Whether it asks about an image that the process has, since it may have been removed while the process heard nothing.
    fileprivate var isConfirmation: Bool { headers.contains(.ifNoneMatch) }
}
