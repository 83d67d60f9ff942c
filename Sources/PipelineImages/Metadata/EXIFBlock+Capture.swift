extension EXIFBlock {
    /// The capture time in ISO 8601, from a text such as "2019:07:01 12:34:56" and the zone in its own tag; `nil` if it
    /// isn't a date.
    var capturedAt: String? {
        let exposure = exposureEntries
        guard let text = text(Tag.dateTimeOriginal, in: exposure) ?? text(Tag.dateTime, in: mainEntries) else {
            return nil
        }
        let parts = text.split(separator: " ")
        guard parts.count == 2, parts.allSatisfy({ Self.numbers($0)?.count == 3 }) else { return nil }
        // A camera whose clock was never set writes zeros.
        guard let date = Self.numbers(parts[0]), (1...12).contains(date[1]), (1...31).contains(date[2]) else {
            return nil
        }
        let zone = self.text(Tag.offsetTimeOriginal, in: exposure) ?? ""
        return parts[0].split(separator: ":").joined(separator: "-") + "T" + parts[1] + (Self.isZone(zone) ? zone : "")
    }

    /// Maker and model. Most models' names include the maker's.
    var camera: String? {
        let entries = mainEntries
        let (make, model) = (text(Tag.make, in: entries), text(Tag.model, in: entries))
        guard let make, let model else { return make ?? model }
        return model.lowercased().hasPrefix(make.lowercased()) ? model : "\(make) \(model)"
    }

    private static func numbers(_ text: Substring) -> [Int]? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        let numbers = parts.compactMap { part in part.allSatisfy { "0123456789".contains($0) } ? Int(part) : nil }
        return numbers.count == parts.count ? numbers : nil
    }

    /// Whether a text is a zone such as "+02:00" or "Z".
    private static func isZone(_ text: String) -> Bool {
        if text == "Z" { return true }
        guard let sign = text.first, sign == "+" || sign == "-", text.count == 6 else { return false }
        return numbers(text.dropFirst())?.count == 2
    }
}
