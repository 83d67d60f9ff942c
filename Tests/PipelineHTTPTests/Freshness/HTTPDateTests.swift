import Essentials
import Testing

@testable import PipelineHTTP

@Suite("Dates (RFC 9110 section 5.6.7)")
struct HTTPDateTests {
    /// Sun, 01 Mar 2026 12:00:00 GMT
    let now = Date(timeIntervalSince1970: 1_772_366_400)

    @Test(
        "The three forms and their cases of letters are read",
        arguments: [
            ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777.0),
            ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
            ("Sun Nov  6 08:49:37 1994", 784_111_777),
            ("Wed Nov 16 08:49:37 1994", 784_975_777),
            ("SUN, 06 Nov 1994 08:49:37 GMT", 784_111_777),
            ("Sun, 06 NOV 1994 08:49:37 GMT", 784_111_777),
            ("Sun, 06 Nov 1994 08:49:37 gMT", 784_111_777),
            ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
            ("Wed, 31 Dec 1969 23:59:59 GMT", -1),
            ("Tue, 29 Feb 2000 00:00:00 GMT", 951_782_400),
            ("Thu, 29 Feb 2024 00:00:00 GMT", 1_709_164_800),
            ("Tue, 19 Jan 2038 14:14:08 GMT", 2_147_523_248),
            ("Sun, 21 Nov 2286 04:46:39 GMT", 10_000_039_599),
            ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799),
            ("Sat, 31 Dec 2016 23:59:60 GMT", 1_483_228_800),
        ])
    func reads(text: String, seconds: Double) {
        #expect(HTTPDate.parse(text, now: now) == Date(timeIntervalSince1970: seconds))
    }

    @Test(
        "Anything else is not a date",
        arguments: [
            "", "0", "-1", "now", "GMT",
            "Thu, 18 Aug 2050 02:01:18 UTC", "Thu, 18 Aug 2050 02:01:18 AEST", "Thu, 18 Aug 2050 02:01:18",
            "Thu, 18 Aug 2050 02:01:18 +0000", "Thu, 18 Aug 50 02:01:18 GMT", "Thu 18 Aug 2050 02:01:18 GMT",
            "Thu, 18  Aug  2050 02:01:18 GMT", "Thu, 18-Aug-2050 02:01:18 GMT", "Thu, 18 Aug 2050 02.01.18 GMT",
            "Thu, 18 Aug 2050 2:01:18 GMT", "Thu, 8 Aug 2050 02:01:18 GMT", "Thursday, 18 Aug 2050 02:01:18 GMT",
            "Thu, 18-Aug-50 02:01:18 GMT", "Xyz, 18 Aug 2050 02:01:18 GMT", "Thu, 18 Abc 2050 02:01:18 GMT",
            "Thu, 31 Feb 2050 02:01:18 GMT", "Mon, 29 Feb 2100 02:01:18 GMT", "Thu, 00 Aug 2050 02:01:18 GMT",
            "Thu, 32 Aug 2050 02:01:18 GMT", "Thu, 18 Aug 2050 24:01:18 GMT", "Thu, 18 Aug 2050 02:60:18 GMT",
            "Thu, 18 Aug 2050 02:01:61 GMT", "Thu, 18 Aug 2050 -2:01:18 GMT", "Thu, 18 Aug +050 02:01:18 GMT",
            " Thu, 18 Aug 2050 02:01:18 GMT", "Thu, 18 Aug 2050 02:01:18 GMT ", "Thu, 18 Aug 2050 02:01:18 GMT, x",
            "Sun Nov 6 08:49:37 1994", "Sun Nov 06 08:49:37 94", "Sun Nov  16 08:49:37 1994", "Sun Nov   08:49:37 1994",
            "Thu, 1８ Aug 2050 02:01:18 GMT",
        ])
    func refuses(text: String) {
        #expect(HTTPDate.parse(text, now: now) == nil)
    }

    @Test(
        "Two digits of a year mean the one that is at most 50 years ahead",
        arguments: [(50, 2050), (76, 2076), (77, 1977), (99, 1999), (0, 2000), (26, 2026), (75, 2075)])
    func twoDigitYears(digits: Int, year: Int) {
        let text = "Monday, 01-Jan-\(digits < 10 ? "0" : "")\(digits) 00:00:00 GMT"
        #expect(HTTPDate.parse(text, now: now) == HTTPDate.parse("Mon, 01 Jan \(year) 00:00:00 GMT", now: now))
    }

    @Test("Near the end of a century two digits may mean the next one")
    func nextCentury() {
        let now = Date(timeIntervalSince1970: 3_900_000_000)
        #expect(
            HTTPDate.parse("Monday, 01-Jan-10 00:00:00 GMT", now: now)
                == HTTPDate.parse("Wed, 01 Jan 2110 00:00:00 GMT", now: now))
    }

    @Test("What is written is read back, over four centuries")
    func roundTrip() {
        for step in 0..<3000 {
            let date = Date(timeIntervalSince1970: Double(step) * 4_300_007 - 4_000_000_000)
            #expect(HTTPDate.parse(HTTPDate.format(date), now: now) == date)
        }
        #expect(HTTPDate.format(Date(timeIntervalSince1970: 784_111_777.9)) == "Sun, 06 Nov 1994 08:49:37 GMT")
    }
}
