try await MemoryHits.run()
