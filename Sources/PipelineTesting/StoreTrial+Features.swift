import Essentials
import HTTPTypes
import Pipeline
import PipelineHTTP

/// The rules of what a store may leave out.
extension StoreTrial {
    static let evictionRules: [Rule] = [{ $0.bounded }, { $0.tooLarge }, { $0.used }]

    func bounded() async throws {
        let first = await store.insert(response("first", size: 100_000), askedAt: now) { _ in [] }
        var latest = first.usedAt ?? now
        for index in 0..<20 {
            if let generation = first.generation { store.use([ProductUse(generation: generation, time: latest + 1)]) }
            let insertion = await store.insert(response("\(index)", size: 100_000), askedAt: now) { _ in [] }
            latest = max(latest + 1, insertion.usedAt ?? now)
            let totals = try await store.totals()
            expect((totals?.bytes ?? 0) <= Self.byteLimit, "The store exceeds its limit.")
            let isStored = try await !heads("\(index)").isEmpty
            expect(isStored, "The store evicts the response that it has just inserted.")
        }
        let isFirstStored = try await !heads("first").isEmpty
        let isSecondStored = try await !heads("0").isEmpty
        expect(isFirstStored, "The store evicts a response that was used more recently than others.")
        expect(!isSecondStored, "The store evicts others before the least recently used response.")
    }

    func tooLarge() async throws {
        let generation = await insert(response("a", "old"))
        let insertion = await store.insert(response("a", "new", size: Self.byteLimit * 2), askedAt: now) {
            Set($0.map(\.generation))
        }
        expect(insertion.isUnavailable, "A response that is larger than the limit isn't unavailable.")
        let isStored = try await found("a", generation) != nil
        expect(isStored, "A response that can't be inserted removes others; that is up to the cache.")
    }

    func used() async throws {
        let first = await store.insert(response("a", "first"), askedAt: now) { _ in [] }
        let second = await store.insert(response("a", "second", age: 1000, delay: 1000), askedAt: now - 1000) { _ in []
        }
        guard let used = first.usedAt, let later = second.usedAt, let generation = first.generation else { return }
        expect(later > used, "`usedAt` isn't later than that of earlier responses where the clock was set back.")
        for (use, order) in [(nil, ["second", "first"]), (later + 1, ["first", "second"])] {
            if let use { store.use([ProductUse(generation: generation, time: use)]) }
            let shown = Lock<[String]>([])
            _ = await store.insert(response("a", "third"), askedAt: now) { heads in
                shown.withLock { $0 = heads.compactMap(\.validator) }
                return nil
            }
            expect(shown.withLock(\.self) == order, "`insert` doesn't show the most recently used responses first.")
        }
    }

    func failures() async throws {
        let key = key("a")
        expect(try await store.failures(of: key) == nil, "A new store knows of failures.")
        for attempts in 1...2 {
            let failed = await store.recordFailure(status: 404, of: key, at: now)
            expect(failed?.attempts == attempts && failed?.status == 404, "`recordFailure` doesn't count.")
        }
        await insert(response("a", status: 404))
        expect(try await store.failures(of: key)?.attempts == 2, "A stored error resets the failures of its source.")
        await insert(response("a"))
        expect(try await store.failures(of: key) == nil, "A success doesn't reset the failures of its source.")
        _ = await store.recordFailure(status: 500, of: key, at: now)
        _ = await store.recordFailure(status: 500, of: self.key("b"), at: now)
        await store.forgetFailures(of: key)
        expect(try await store.failures(of: key) == nil, "`forgetFailures` doesn't forget.")
        expect(try await store.failures(of: self.key("b"))?.attempts == 1, "`forgetFailures` forgets another source.")
        await store.forgetFailures(of: nil)
        expect(try await store.failures(of: self.key("b")) == nil, "`forgetFailures` of nil doesn't forget all.")
    }

    func results() async throws {
        guard let (generation, variant, image) = await insertResult() else { return }
        let kept = try await store.variant(variant, of: generation, priority: .normal)
        expect(
            kept?.bytes == image.bytes && kept?.size == image.size, "`variant` doesn't return what `keep` was given.")
        let other = try await store.variant(variant, of: generation + 1, priority: .normal)
        expect(other == nil, "`variant` returns the result of another response.")
        await store.remove(key("a")) { _ in true }
        let left = try await store.variant(variant, of: generation, priority: .normal)
        expect(left == nil, "A result outlives its response.")
        await store.keep(image, as: variant, of: generation)
        let late = try await store.variant(variant, of: generation, priority: .normal)
        expect(late == nil, "A result is kept for a response that is gone.")
    }

    func largestResult() async throws {
        guard let (generation, variant, image) = await insertResult() else { return }
        let largest = try await store.largestVariant(like: variant, of: generation, priority: .normal)
        expect(largest?.bytes == image.bytes, "`largestVariant` doesn't find a result under a key that is alike.")
    }

    /// Inserts a response with a result.
    private func insertResult() async -> (generation: Int64, key: VariantKey, image: EncodedImage)? {
        guard let generation = await insert(response("a")), let url = URL(string: "http://example.com/a") else {
            return nil
        }
        let variant = VariantKey(source: key("a"), request: ImageRequest(url), list: BLAKE2bDigest(of: "list"))
        let image = EncodedImage(bytes: [1, 2, 3], declaredType: "image/png", size: PixelSize(width: 3, height: 2))
        await store.keep(image, as: variant, of: generation)
        return (generation, variant, image)
    }
}
