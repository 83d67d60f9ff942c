package import Essentials

/// Dates as HTTP writes them (RFC 9110 section 5.6.7).
package enum HTTPDate {
    /// Reads an IMF-fixdate, or one of the two obsolete forms that a recipient has to accept: RFC 850's and asctime's.
    ///
    /// Names are compared without case; otherwise parsing is strict.
    /// - Parameter now: the time by which the two-digit year of RFC 850 is completed.
    /// - Returns: the date; `nil` if the text isn't one.
    package static func parse(_ text: String, now: Date) -> Date? {
        var text = text
        return text.withUTF8 { bytes in
            var scanner = DateScanner(bytes)
            return switch bytes.firstIndex(of: UInt8(ascii: ",")) {
            case 3: fixdate(&scanner)
            case .some: rfc850(&scanner, now: now)
            case nil: asctime(&scanner)
            }
        }
    }

    /// Writes an IMF-fixdate, such as `Sun, 06 Nov 1994 08:49:37 GMT`.
    package static func format(_ date: Date) -> String {
        // Dates in fields are within these bounds.
        let seconds = Int(clamping: min(max(date.timeIntervalSince1970.rounded(.down), -1e13), 1e13))
        let (day, second) = seconds.quotientAndRemainder(dividingBy: 86_400)
        let days = second < 0 ? day - 1 : day
        let time = second < 0 ? second + 86_400 : second
        let civil = CivilDate(daysSince1970: days)
        let weekday = "\(shortWeekdays[((days + 4) % 7 + 7) % 7])".capitalized
        let month = "\(months[civil.month - 1])".capitalized
        return "\(weekday), \(two(civil.day)) \(month) \(pad(civil.year, 4)) "
            + "\(two(time / 3600)):\(two(time / 60 % 60)):\(two(time % 60)) GMT"
    }

    /// `Sun, 06 Nov 1994 08:49:37 GMT`
    private static func fixdate(_ text: inout DateScanner) -> Date? {
        guard text.name(shortWeekdays) != nil, text.skip(", "), let day = text.digits(2), text.skip(" "),
            let month = text.name(months), text.skip(" "), let year = text.digits(4), text.skip(" "),
            let time = text.time(), text.skip(" gmt"), text.isAtEnd
        else { return nil }
        return date(year, month + 1, day, time)
    }

    /// `Sunday, 06-Nov-94 08:49:37 GMT`
    private static func rfc850(_ text: inout DateScanner, now: Date) -> Date? {
        guard text.name(weekdays) != nil, text.skip(", "), let day = text.digits(2), text.skip("-"),
            let month = text.name(months), text.skip("-"), let year = text.digits(2), text.skip(" "),
            let time = text.time(), text.skip(" gmt"), text.isAtEnd
        else { return nil }
        let thisYear = CivilDate(
            daysSince1970: Int(clamping: min(max((now.timeIntervalSince1970 / 86_400).rounded(.down), -1e9), 1e9))
        ).year
        let inThisCentury = thisYear - thisYear % 100 + year
        // A year more than 50 years ahead means the past.
        let limit = now.addingTimeInterval(50 * 365.2425 * 86_400)
        return [100, 0, -100].lazy.compactMap { date(inThisCentury + $0, month + 1, day, time) }.first { $0 <= limit }
    }

    /// `Sun Nov  6 08:49:37 1994`: a day below ten comes after two spaces.
    private static func asctime(_ text: inout DateScanner) -> Date? {
        guard text.name(shortWeekdays) != nil, text.skip(" "), let month = text.name(months), text.skip(" "),
            let day = text.skip(" ") ? text.digits(1) : text.digits(2), text.skip(" "), let time = text.time(),
            text.skip(" "), let year = text.digits(4), text.isAtEnd
        else { return nil }
        return date(year, month + 1, day, time)
    }

    private static func date(_ year: Int, _ month: Int, _ day: Int, _ secondOfDay: Int) -> Date? {
        CivilDate(year: year, month: month, day: day).daysSince1970.map {
            Date(timeIntervalSince1970: Double($0 * 86_400 + secondOfDay))
        }
    }

    private static func two(_ number: Int) -> String { pad(number, 2) }

    private static func pad(_ number: Int, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }

    private static let weekdays: [StaticString] = [
        "sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday",
    ]
    private static let shortWeekdays: [StaticString] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]
    private static let months: [StaticString] = [
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    ]
}
