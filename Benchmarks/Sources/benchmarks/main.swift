// `benchmarks` runs what needs nothing but itself; a word runs one alone.
let words = Array(CommandLine.arguments.dropFirst())
switch words.first {
case "thumbnails": try await Thumbnails.run(Array(words.dropFirst()))
case "transfers": try await Transfers.run()
case "memory": try await ChainMemory.run()
case "decodes": try await ManyDecodes.run()
case "hostile":
    let numbers = words.dropFirst().compactMap { Int($0) }
    try await HostileFiles.run(cases: numbers.first ?? 2000, seed: UInt64(numbers.dropFirst().first ?? 1))
case "chain":
    guard let path = words.dropFirst().first else { break }
    try await ChainMemory.measure(path)
default:
    try await MemoryHits.run()
    try await BlockedPool.run()
}
