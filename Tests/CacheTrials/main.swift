// Trials that need processes of their own: what a crash leaves, what several processes do to one folder.
//
//     CacheTrials crash <kills> <seed>
//     CacheTrials sharing <operations> <seconds> <seed>
//     CacheTrials fleet <fault> <processes> <loads> <images> <seconds>
//     CacheTrials removals <seconds> <rounds> <disk or memory>
//     CacheTrials burst <removals>
//     CacheTrials failover <sentinel or dns> <rounds>
//     CacheTrials sizes
//     CacheTrials hits <seconds>
//     CacheTrials denied <mode>
//     CacheTrials full <folder on a small file system>
//     CacheTrials replaced <folder on a small file system>
import Foundation
import Stages

let arguments = CommandLine.arguments.dropFirst()
let numbers = arguments.dropFirst().compactMap { UInt64($0) }

/// Runs a trial in a folder of its own.
func tried(_ trial: (String) async throws -> String) async {
    let folder = NSTemporaryDirectory() + "cache-trial-\(UUID().uuidString)"
    let result: Result<String, any Error>
    do { result = .success(try await trial(folder)) } catch { result = .failure(error) }
    try? FileManager.default.removeItem(atPath: folder)
    switch result {
    case .success(let survived): print(survived)
    case .failure(let error):
        FileHandle.standardError.write(Data("\(error)\n".utf8))
        exit(1)
    }
}

switch arguments.first {
// The processes of the trials themselves; their folder is not a number.
case "write": try await Writing.run(folder: arguments[2], round: Int(numbers.last ?? 0))
case "crash":
    await tried { folder in
        var trial = CrashTrial(folder: folder, kills: Int(numbers.first ?? 8), seed: numbers.last ?? 1)
        return try await trial.run()
    }
case "hold": try await Holding.run(folder: arguments[2], url: arguments[3])
case "load-in-memory": try await Loading.run(url: arguments[2])
case "sleep": try await Sleeping.run(count: Int(numbers.first ?? 10_000))
case "lock": try Locking.run(folder: arguments[2])
case "migrate": try Migrating.run(database: arguments[2], statements: arguments[3])
case "look":
    let report = try await TrialCache(arguments[2], byteLimit: 1_000_000_000).cache.statistics()
    print(report?.entries ?? -1)
case "share":
    try await Sharing(folder: arguments[2], seed: numbers[0]).run(
        operations: Int(numbers[1]), seconds: Double(numbers[2]))
case "fleet-member":
    try await FleetMember(JSONDecoder().decode(FleetMember.Settings.self, from: Data(arguments[2].utf8))).run()
case "fleet":
    await tried { _ in
        guard let fault = FleetFault(rawValue: arguments[2]), numbers.count == 4 else {
            throw TrialFailure("faults are \(FleetFault.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        return try await FleetTrial(
            fault: fault, processes: Int(numbers[0]), loads: Int(numbers[1]), images: Int(numbers[2]),
            seconds: Int(numbers[3])
        ).run()
    }
case "removals":
    await tried { folder in
        try await RemovalTrial.cutOff(
            seconds: Double(numbers[0]), rounds: Int(numbers[1]), hasDisk: arguments.last == "disk", in: folder)
    }
case "burst": await tried { try await RemovalTrial.burst(Int(numbers.first ?? 3000), in: $0) }
case "failover":
    await tried { folder in
        let rounds = Int(numbers.last ?? 2)
        if arguments.contains("dns") { return try await FailoverTrial.byName(rounds: rounds, in: folder) }
        return try await FailoverTrial.bySentinel(rounds: rounds)
    }
case "failover-by-name":
    await tried { _ in try await FailoverTrial.byName(rounds: Int(numbers[0]), hosts: arguments[2]) }
case "sizes": try await FleetSizes.run()
case "hits": try await SharedHits.run(seconds: Double(numbers.first ?? 2))
case "hits-member": try await SharedHits.runMember(socket: arguments[2], seconds: Double(numbers.last ?? 2))
case "denied":
    await tried { folder in
        try await FaultTrial(folder: folder).denied(mode: mode_t(arguments[2], radix: 8) ?? 0)
    }
case "full":
    await tried { _ in try await FaultTrial(folder: arguments[2] + "/cache").full() }
case "replaced":
    await tried { _ in try await FaultTrial(folder: arguments[2] + "/cache").replaced() }
case "sharing":
    await tried { folder in
        try await SharingTrial(
            folder: folder, operations: Int(numbers[0]), seconds: Double(numbers[1]), seed: numbers[2]
        ).run()
    }
default:
    FileHandle.standardError.write(
        Data("usage: CacheTrials crash <kills> <seed> | sharing <operations> <seconds> <seed>\n".utf8))
    exit(2)
}
