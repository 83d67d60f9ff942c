/// Formats and reads numbers of bytes for people.
enum ByteCount {
    /// Such as `812 B`, `23.4 KB` or `1.2 GB`, in powers of 1000.
    static func text(_ bytes: Int) -> String {
        var value = Double(bytes.magnitude)
        for unit in ["B", "KB", "MB", "GB"] {
            if value < 999.95 || unit == "GB" {
                let number = unit == "B" ? "\(Int(value))" : OneDecimal.text(value)
                return (bytes < 0 ? "-" : "") + "\(number) \(unit)"
            }
            value /= 1000
        }
        return ""
    }

    /// Reads `500`, `64K`, `2G` or `1.5M`, in powers of 1000, or of 1024 with an `i` (`2Gi`); `nil` for anything else.
    static func bytes(_ text: String) -> Int? {
        var number = Substring(text.lowercased())
        if number.last == "b" { number.removeLast() }
        let isBinary = number.last == "i"
        if isBinary { number.removeLast() }
        let powers: [Character: Int] = ["k": 1, "m": 2, "g": 3, "t": 4]
        let power = number.last.flatMap { powers[$0] } ?? 0
        if power > 0 { number.removeLast() } else if isBinary { return nil }
        guard let value = Double(number), value >= 0 else { return nil }
        let bytes = (0..<power).reduce(value) { value, _ in value * (isBinary ? 1024 : 1000) }
        return bytes < 1e18 ? Int(bytes) : nil
    }
}

/// A number with one digit after the point.
enum OneDecimal {
    static func text(_ value: Double) -> String {
        let tenths = Int((value * 10).rounded())
        return "\(tenths / 10).\(abs(tenths % 10))"
    }
}
