import Essentials
import HTTPTypes
import Pipeline
import PipelineHTTP
import Testing

@Suite("How old a response is (RFC 9111 section 4.2.3)")
struct FreshnessAgeTests: FreshnessSuite {
    @Test("4.2.3: an older Date makes a response older")
    func apparentAge() throws {
        #expect(try judge("max-age=3600", date: -7200).verdict == .expired)
        #expect(try judge("max-age=3600", after: 10, date: -100).age == .seconds(110))
        #expect(try judge("max-age=3600", after: 10, date: 100).age == .seconds(10))
    }

    @Test("4.2.3: Age, the time that the answer took, and the time since then add up")
    func correctedAge() throws {
        #expect(try judge(after: 10, date: 0, age: ["30"], delay: 5).age == .seconds(45))
        #expect(try judge(after: 10, date: -100, age: ["30"], delay: 5).age == .seconds(110))
        #expect(try judge("max-age=3600", age: ["7200"]).verdict == .expired)
        #expect(try judge(after: 0, date: -10, expires: 10, age: ["25"]).verdict == .expired)
        #expect(try judge(after: 0, date: 10, expires: 20, age: ["15"]).verdict == .expired)
        #expect(try judge(after: 10.7, age: ["30"]).ageField == 40)
    }

    @Test(
        "5.1: of Age the first member counts; what is not a number is ignored; overflow is clamped",
        arguments: [
            (["7200, 0"], 7200), (["0, 7200"], 0), (["7200", "0"], 7200), (["0", "7200"], 0), (["abc"], 0),
            (["-7200"], 0),
            (["7200.0"], 0), (["7200;foo=bar"], 0), (["2147483647"], 2_147_483_647), (["2147483648"], 2_147_483_648),
            (["99999999999999999999"], 2_147_483_648), ([" 5 "], 5), ([""], 0),
        ] as [([String], Int)])
    func ageField(lines: [String], seconds: Int) throws {
        #expect(try judge(after: 0, age: lines).age == .seconds(seconds))
    }

    @Test("A response from the future is stale: the clock was set back")
    func clockSetBack() throws {
        #expect(try judge("max-age=60", after: -3600).verdict == .clockSetBack)
        #expect(try judge("max-age=60", after: -1).verdict == .fresh)
        #expect(try !judge("max-age=60", after: -3600).mayBeServedWhenUnreachable)
        #expect(
            try judge(after: -3600, expiry: .after(.seconds(60)), rules: .asRequested, fixed: 60).verdict
                == .clockSetBack)
        #expect(try judge(after: -3600, expiry: .never, rules: .asRequested).verdict == .fresh)
    }
}
