extension EXIFBlock {
    /// ISO 8601, of "2019:07:01 12:34:56" and the zone next to it; `nil` for what is not a date.
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

    /// Maker and model; most makers repeat their name in the model's.
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

    /// "+02:00" or "Z".
    private static func isZone(_ text: String) -> Bool {
        if text == "Z" { return true }
        guard let sign = text.first, sign == "+" || sign == "-", text.count == 6 else { return false }
        return numbers(text.dropFirst())?.count == 2
    }
}
