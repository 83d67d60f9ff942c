// `benchmarks` runs what needs nothing but itself, `benchmarks transfers` that one alone.
if CommandLine.arguments.dropFirst().first == "transfers" {
    try await Transfers.run()
} else {
    try await MemoryHits.run()
    try await BlockedPool.run()
}
