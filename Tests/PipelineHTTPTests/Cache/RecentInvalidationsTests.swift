import Essentials
import Testing

@testable import PipelineHTTP

@Suite("What was made invalid of late")
struct RecentInvalidationsTests {
    private let start = Date(timeIntervalSince1970: 1_772_366_400)

    @Test("What was asked for before is invalid, what is asked for after is not, and a time to come counts for nothing")
    func times() {
        let invalidations = RecentInvalidations()
        invalidations.note("a", at: start)
        #expect(invalidations.contains("a", since: start - 1, now: start + 1))
        #expect(!invalidations.contains("a", since: start, now: start + 1))
        #expect(!invalidations.contains("b", since: start - 1, now: start + 1))
        #expect(!invalidations.contains("a", since: start - 100, now: start - 50))
    }

    @Test("What was asked for before the clock was set back is invalid, whenever the target was made invalid")
    func setBack() {
        let invalidations = RecentInvalidations()
        invalidations.note("a", at: start - 99)
        #expect(invalidations.contains("a", since: start, now: start - 98))
        #expect(!invalidations.contains("b", since: start, now: start - 98))
        #expect(!invalidations.contains("a", since: start - 98, now: start - 98))
        invalidations.note("b", at: start + 1)
        #expect(invalidations.contains("b", since: start, now: start - 98))
    }

    @Test("Up to a limit of them are kept; of those that were dropped, what was asked before is invalid")
    func bound() {
        let invalidations = RecentInvalidations(limit: 100)
        for index in 0..<13_000 { invalidations.note("\(index)", at: start + Double(index)) }
        #expect(invalidations.count <= 100)
        let now = start + 13_000
        #expect(invalidations.contains("12999", since: start + 12_998, now: now))
        #expect(invalidations.contains("0", since: start - 1, now: now))
        #expect(!invalidations.contains("0", since: start + 12_950, now: now))
    }

    @Test("One URL made invalid time and again takes no room from others, and its latest time counts")
    func sameAgain() {
        let invalidations = RecentInvalidations(limit: 100)
        invalidations.note("a", at: start)
        for _ in 0..<1000 { invalidations.note("b", at: start + 5) }
        #expect(invalidations.contains("b", since: start + 4, now: start + 6))
        #expect(invalidations.count <= 100)
        #expect(invalidations.contains("a", since: start - 1, now: start + 6))
    }
}
