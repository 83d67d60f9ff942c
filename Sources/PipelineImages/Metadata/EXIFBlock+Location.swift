extension EXIFBlock {
    /// The directory with the GPS data.
    var locationEntries: [Entry] {
        entries(at: mainEntries.first { $0.tag == Tag.locationDirectory }.flatMap { number(at: $0.value, bytes: 4) })
    }

    /// Where the picture was taken; `nil` if it is missing or invalid.
    var location: ImageMetadata.Location? {
        let entries = locationEntries
        guard let latitude = angle(Tag.latitude, negative: "S", in: entries), abs(latitude) <= 90,
            let longitude = angle(Tag.longitude, negative: "W", in: entries), abs(longitude) <= 180
        else { return nil }
        return ImageMetadata.Location(latitude: latitude, longitude: longitude)
    }

    /// Reads degrees, minutes and seconds. The previous tag holds the direction (CIPA DC-008 section 4.6.6).
    private func angle(_ tag: Int, negative: String, in entries: [Entry]) -> Double? {
        guard let entry = entries.first(where: { $0.tag == tag }), entry.type == 5, entry.count == 3 else { return nil }
        let parts = (0..<3).compactMap { fraction(at: entry.value + 8 * $0) }
        guard parts.count == 3 else { return nil }
        let angle = parts[0] + parts[1] / 60 + parts[2] / 3600
        return text(tag - 1, in: entries) == negative ? -angle : angle
    }

    /// Reads a fraction. Some programs write 0/0 for unknown seconds.
    private func fraction(at offset: Int) -> Double? {
        guard let above = number(at: offset, bytes: 4), let below = number(at: offset + 4, bytes: 4) else { return nil }
        return above == 0 ? 0 : below == 0 ? nil : Double(above) / Double(below)
    }
}
