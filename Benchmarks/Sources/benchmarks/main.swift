try await MemoryHits.run()
try await BlockedPool.run()
