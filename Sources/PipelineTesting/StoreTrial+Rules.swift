import Essentials
import HTTPTypes
import Pipeline
import PipelineHTTP

/// The rules that every store keeps.
extension StoreTrial {
    static let rules: [Rule] = [
        { $0.empty }, { $0.found }, { $0.inserted }, { $0.outdated }, { $0.updated }, { $0.tagged }, { $0.removed },
        { $0.removedAll }, { $0.invalidated }, { $0.closed },
    ]

    func empty() async throws {
        expect(try await heads("a").isEmpty, "A new store isn't empty.")
    }

    func found() async throws {
        let first = response("a", "first", tags: "one two", redirects: ["http://example.com/from"])
        let generation = await insert(first)
        await insert(response("a", "second"))
        await insert(response("b", "third"))
        expect(
            try await texts("a") == ["first", "second"], "`find` doesn't show all responses under a key, and no other.")
        expect(try await heads("a").allSatisfy(\.body.isEmpty), "`find` shows responses with their bodies to choose.")
        let found = try await found("a", generation)
        expect(found?.body == first.body, "`find` doesn't return the body of the chosen response.")
        expect(
            found?.headers == first.headers && found?.status == first.status && found?.targets == first.targets
                && found?.selecting == first.selecting && found?.key == first.key,
            "`find` returns a response with other fields, targets, status or key than it was inserted with.")
        let times = [(found?.requestTime, first.requestTime), (found?.stored, first.stored)]
        expect(
            times.allSatisfy { abs($0.0?.timeIntervalSince($0.1) ?? 1) < 1e-6 },
            "The times of a response come back less exact than to a microsecond.")
        let store = store
        let key = key("a")
        let other = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            do { _ = try await store.find(key, priority: .normal) { $0.first } } catch {
                return error is CancellationError
            }
            return true
        }
        expect(await other.value, "A cancelled `find` throws something other than CancellationError.")
    }

    func inserted() async throws {
        let first = await insert(response("a", "first")) ?? 0
        let second = await insert(response("a", "second")) ?? 0
        expect(first > 0 && second > first, "Generations don't grow from 1 or more.")
        let shown = Lock<[StoredResponse]>([])
        let third = await store.insert(response("a", "third"), askedAt: now) { heads in
            shown.withLock { $0 = heads }
            return [first]
        }
        expect(
            Set(shown.withLock(\.self).map(\.generation)) == [first, second],
            "`insert` doesn't show all responses under the key, and no other.")
        expect(shown.withLock { $0.allSatisfy(\.body.isEmpty) }, "`insert` shows responses with their bodies.")
        expect(
            try await texts("a") == ["second", "third"], "`insert` removes not just the generations that are replaced.")
        if case .inserted(_, _, let replaced) = third {
            expect(replaced == [first], "`insert` doesn't report the replaced generations.")
        }
        await store.remove(key("a")) { _ in true }
        let fourth = await insert(response("a", "fourth")) ?? 0
        expect(fourth > third.generation ?? .max, "A generation is given out again after a removal.")
    }

    func outdated() async throws {
        let generation = await insert(response("a", "old"))
        let refused = await store.insert(response("a", "new"), askedAt: now) { _ in nil }
        expect(refused.isOutdated, "`insert` isn't outdated although `replacing` returned nil.")
        await store.invalidate("http://example.com/b", at: now)
        let replacing: @Sendable ([StoredResponse]) -> Set<Int64>? = { Set($0.map(\.generation)) }
        for invalid in [
            response("b", age: 1), response("a", "new", age: 1, redirects: ["http://example.com/b"]),
            response("b", size: Self.byteLimit * 2, age: 1),
        ] {
            let insertion = await store.insert(invalid, askedAt: now - 1, replacing: replacing)
            expect(
                insertion.isOutdated,
                "A response of \(invalid.body.count) bytes isn't outdated, although one of its URLs became invalid after the request."
            )
        }
        let early = await store.insert(response("b"), askedAt: now + 100, replacing: replacing)
        expect(
            early.isOutdated,
            "A request from the future was sent before the clock was set back; its response isn't outdated by an invalidation."
        )
        expect(try await found("a", generation) != nil, "An outdated response removes another.")
        let valid = await store.insert(response("b"), askedAt: now, replacing: replacing)
        expect(valid.generation != nil, "A response isn't inserted although its request came after the invalidation.")
    }

    func updated() async throws {
        let old = response("a", "old", tags: "before")
        let generation = await insert(old) ?? 0
        var new = response("a", "new", age: -1, tags: "after")
        new.generation = generation
        new.body = []
        let shown = Lock<StoredResponse?>(nil)
        let refused = await store.update(new) { stored in
            shown.withLock { $0 = stored }
            return false
        }
        expect(refused == false, "`update` doesn't return false although the stored response isn't current.")
        expect(
            shown.withLock { $0?.validator == "old" && $0?.body.isEmpty == true },
            "`update` doesn't show the stored head.")
        expect(try await found("a", generation)?.validator == "old", "`update` changes a response that isn't current.")
        expect(await store.update(new) { _ in true } == true, "`update` doesn't return true after a change.")
        let found = try await found("a", generation)
        expect(found?.validator == "new" && found?.body == old.body, "`update` must change the head and keep the body.")
        let before = await store.invalidate("tag:before", at: now)
        let isLeft = try await self.found("a", generation) != nil
        expect(
            isLeft && (before == 0 || !countsInvalidated), "A response is still found by a tag that it had before.")
        expect(await store.invalidate("tag:after", at: now) == 1, "A response isn't found by the tag of an update.")
        expect(
            await store.update(new) { _ in true } == false, "`update` doesn't return false for a response that is gone."
        )
    }

    func tagged() async throws {
        let generation = await insert(response("a", "one", tags: "first"))
        let other = await insert(response("a", "two"))
        await store.add(["late, 1 %"], to: key("a"), from: response("a").target) { heads in
            heads.first { $0.generation == generation }
        }
        let found = try await found("a", generation)
        expect(
            found?.body == response("a", "one").body && found?.validator == "one",
            "`add` must change neither body nor other fields.")
        expect(
            await store.invalidate(ResponseTags.target("late, 1 %"), at: now) == 1,
            "A response isn't found by a tag that was added.")
        expect(try await self.found("a", generation) == nil, "A response is left after a removal by an added tag.")
        if countsInvalidated {
            expect(try await self.found("a", other) != nil, "`add` gives a tag to a response that wasn't chosen.")
        }
    }

    func removed() async throws {
        let first = await insert(response("a", "first")) ?? 0
        await insert(response("a", "second"))
        await insert(response("b", "other"))
        let removed = await store.remove(key("a")) { $0.validator == "first" }
        expect(removed.map(\.generation) == [first], "`remove` doesn't return the heads that it removed.")
        expect(try await texts("a") == ["second"], "`remove` by key removes not just what matches.")
        expect(try await texts("b") == ["other"], "`remove` removes a response of another key.")
    }

    func removedAll() async throws {
        let first = await insert(response("a", "first")) ?? 0
        await insert(response("a", "second"))
        await insert(response("b", "other", status: 404))
        let (key, length) = (key("a"), response("a", "first").body.count)
        let removed = await store.removeAll { $0.status == 404 }
        let isLeft = try await !texts("b").isEmpty
        expect(
            removed == 1 && !isLeft,
            "`removeAll` doesn't remove what matches, or doesn't count it.")
        expect(
            await store.removeAll { $0.generation == first && $0.key == key && $0.bodyLength == length } == 1,
            "`removeAll` shows an entry with another generation, key or length.")
        expect(try await texts("a") == ["second"], "`removeAll` removes not just what matches.")
        expect(await store.removeAll { _ in true } == 1, "`removeAll` doesn't count what it removed.")
        expect(try await texts("a").isEmpty, "`removeAll` leaves a response.")
    }

    func invalidated() async throws {
        await insert(response("a", tags: "one two"))
        await insert(response("b", redirects: ["http://example.com/from"]))
        await insert(response("c", "1"))
        await insert(response("c", "2"))
        await insert(response("d"))
        for (target, count) in [
            ("tag:two", 1), ("http://example.com/from", 1), ("http://example.com/c", 2), ("tag:x", 0),
        ] {
            let (removed, count) = (await store.invalidate(target, at: now), countsInvalidated ? count : min(count, 1))
            expect(removed == count, "`invalidate` of \(target) returns \(removed) instead of \(count).")
        }
        for name in ["a", "b", "c"] {
            expect(try await texts(name).isEmpty, "`invalidate` leaves a response by one of its URLs or tags.")
        }
        expect(try await !texts("d").isEmpty, "`invalidate` removes a response without the URL or tag.")
    }

    func listed() async throws {
        let none = try await store.totals()
        expect(
            none?.entries == 0 && none?.latestGeneration == 0,
            "The totals of an empty store aren't 0, or it has none; `latestGeneration` is 0 too.")
        expect(try await store.entries(after: 0, limit: 10).isEmpty, "A new store lists entries.")
        var inserted: [Int64] = []
        for index in 0..<5 { inserted.append(await insert(response("\(index)", "body")) ?? 0) }
        let generations = inserted
        let first = try await store.entries(after: 0, limit: 2)
        let rest = try await store.entries(after: first.last?.generation ?? 0, limit: 10)
        expect(
            (first + rest).map(\.generation) == generations, "`entries` aren't pages in the order of their generations."
        )
        expect(first.first?.bodyLength == 4 && first.first?.key == key("0"), "An entry has another length or key.")
        await store.removeAll { $0.generation == generations[4] }
        let totals = try await store.totals()
        expect(totals?.entries == 4, "The totals count something other than the stored responses.")
        expect(totals?.latestGeneration == generations[3], "`latestGeneration` isn't that of the last stored response.")
    }

    func closed() async throws {
        await insert(response("a"))
        await store.tidy()
        await store.flush()
        await store.close()
        expect(await insert(response("b")) != nil, "A store that was closed doesn't open again when it is used.")
    }
}
