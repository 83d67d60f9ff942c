// Without arguments, `benchmarks` runs the measurements that need nothing else. A word runs a single one.
let words = Array(CommandLine.arguments.dropFirst())
switch words.first {
case "thumbnails": try await Thumbnails.run(Array(words.dropFirst()))
case "transfers": try await Transfers.run()
case "encode":
    guard let path = words.dropFirst().first else { break }
    try await EncodeCosts.run(path, size: words.dropFirst(2).first.flatMap { Int($0) } ?? 300)
case "cancel": try await Cancellation.run(Array(words.dropFirst()))
case "growth": try await Growth.run(Array(words.dropFirst()))
case "interrupt": try await Interruptions.run(Array(words.dropFirst()))
case "memory": try await ChainMemory.run()
case "disk": try await DiskLookups.run(words.dropFirst().first)
case "decodes": try await ManyDecodes.run()
case "prefetch": try await Prefetching.run()
case "inflight": try await InFlight.run(count: words.dropFirst().first.flatMap { Int($0) } ?? 100_000)
case "tiny": try await TinyLoads.run(count: words.dropFirst().first.flatMap { Int($0) } ?? 100_000)
case "regions": try await Regions.run()
case "isolation": try await Isolation.run()
case "larger": try await LargerVariants.run()
case "region":
    guard words.count == 4, let y = Int(words[3]) else { break }
    try await Regions.measure(words[1], words[2], y: y)
case "chain":
    guard let path = words.dropFirst().first else { break }
    try await ChainMemory.measure(path)
default:
    try await MemoryHits.run()
    try await BlockedPool.run()
}
