// `benchmarks` runs what needs nothing but itself; a word runs one alone.
let words = Array(CommandLine.arguments.dropFirst())
if words.first == "thumbnails" {
    try await Thumbnails.run(Array(words.dropFirst()))
} else if words.first == "transfers" {
    try await Transfers.run()
} else {
    try await MemoryHits.run()
    try await BlockedPool.run()
}
