import FoundationEssentials

/// Dates as HTTP writes them (RFC 9110 section 5.6.7).
enum HTTPDate {
    /// Reads an IMF-fixdate, or one of the two obsolete forms that a recipient has to accept: RFC 850's and asctime's.
    ///
    /// Names are compared without case; nothing else is forgiven.
    /// - Parameter now: what the two digits of RFC 850's year are reckoned from.
    /// - Returns: `nil` if the text is no such date.
    static func parse(_ text: String, now: Date) -> Date? {
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        switch words.count {
        case 6 where words[5].lowercased() == "gmt": return fixdate(words)
        case 4 where words[3].lowercased() == "gmt": return rfc850(words, now: now)
        case 5, 6: return asctime(words)
        default: return nil
        }
    }

    /// Writes an IMF-fixdate, such as `Sun, 06 Nov 1994 08:49:37 GMT`.
    static func format(_ date: Date) -> String {
        let seconds = Int(date.timeIntervalSince1970.rounded(.down))
        let (day, second) = seconds.quotientAndRemainder(dividingBy: 86_400)
        let days = second < 0 ? day - 1 : day
        let time = second < 0 ? second + 86_400 : second
        let civil = CivilDate(daysSince1970: days)
        let weekday = weekdays[((days + 4) % 7 + 7) % 7].prefix(3).capitalized
        let month = months[civil.month - 1].capitalized
        return "\(weekday), \(two(civil.day)) \(month) \(pad(civil.year, 4)) "
            + "\(two(time / 3600)):\(two(time / 60 % 60)):\(two(time % 60)) GMT"
    }

    /// `Sun, 06 Nov 1994 08:49:37 GMT`
    private static func fixdate(_ words: [Substring]) -> Date? {
        guard words[0].count == 4, words[0].last == ",", isWeekday(words[0].dropLast(), short: true),
            let day = number(words[1], digits: 2), let month = month(words[2]), let year = number(words[3], digits: 4)
        else { return nil }
        return date(year, month, day, words[4])
    }

    /// `Sunday, 06-Nov-94 08:49:37 GMT`
    private static func rfc850(_ words: [Substring], now: Date) -> Date? {
        let parts = words[1].split(separator: "-", omittingEmptySubsequences: false)
        guard words[0].last == ",", isWeekday(words[0].dropLast(), short: false), parts.count == 3,
            let day = number(parts[0], digits: 2), let month = month(parts[1]), let year = number(parts[2], digits: 2)
        else { return nil }
        let thisYear = CivilDate(daysSince1970: Int((now.timeIntervalSince1970 / 86_400).rounded(.down))).year
        let inThisCentury = thisYear - thisYear % 100 + year
        let next = date(inThisCentury + 100, month, day, words[2])
        let this = date(inThisCentury, month, day, words[2])
        let last = date(inThisCentury - 100, month, day, words[2])
        // More than 50 years ahead means the past; just less means the future.
        let limit = now.addingTimeInterval(50 * 365.2425 * 86_400)
        return [next, this, last].compactMap(\.self).first { $0 <= limit }
    }

    /// `Sun Nov  6 08:49:37 1994`: a day below ten stands behind two spaces.
    private static func asctime(_ words: [Substring]) -> Date? {
        let isPadded = words.count == 6
        guard words[0].count == 3, isWeekday(words[0], short: true), let month = month(words[1]),
            !isPadded || words[2].isEmpty,
            let day = number(words[isPadded ? 3 : 2], digits: isPadded ? 1 : 2),
            let year = number(words[words.count - 1], digits: 4)
        else { return nil }
        return date(year, month, day, words[words.count - 2])
    }

    private static func date(_ year: Int, _ month: Int, _ day: Int, _ time: Substring) -> Date? {
        let parts = time.split(separator: ":", omittingEmptySubsequences: false).map { number($0, digits: 2) }
        guard parts.count == 3, let hour = parts[0], let minute = parts[1], let second = parts[2],
            // A leap second is a second too.
            hour < 24, minute < 60, second <= 60,
            let days = CivilDate(year: year, month: month, day: day).daysSince1970
        else { return nil }
        return Date(timeIntervalSince1970: Double(((days * 24 + hour) * 60 + minute) * 60 + second))
    }

    private static func isWeekday(_ text: Substring, short: Bool) -> Bool {
        let text = text.lowercased()
        return weekdays.contains { short ? $0.prefix(3) == text : $0 == text }
    }

    private static func month(_ text: Substring) -> Int? { months.firstIndex(of: text.lowercased()).map { $0 + 1 } }

    private static func number(_ text: Substring, digits: Int) -> Int? {
        text.utf8.count == digits ? deltaSeconds(text.utf8) : nil
    }

    private static func two(_ number: Int) -> String { pad(number, 2) }

    private static func pad(_ number: Int, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }

    private static let weekdays = [
        "sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday",
    ]
    private static let months = [
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    ]
}
