import LibC

/// Makes the XMP packet of a new picture from that of its source.
enum XMPRewriting {
    /// Returns the packet with the orientation set to upright and without the address of manifests; empty if it
    /// describes a second picture (a gain map), which the new file doesn't have.
    static func corrected(_ packet: [UInt8]) -> [UInt8] {
        if hasSecondPicture(packet[...]) { return [] }
        var packet = withoutManifestURL(packet)
        // As an attribute and as an element.
        for name in ["tiff:Orientation=\"", "tiff:Orientation='", "tiff:Orientation>"] {
            var rest = 0
            while let found = end(of: name, in: packet[...], from: rest) {
                rest = found
                if rest < packet.endIndex, (0x32...0x39).contains(packet[rest]) { packet[rest] = 0x31 }
            }
        }
        return packet
    }

    /// Whether the packet describes a second picture in the file.
    static func hasSecondPicture(_ packet: ArraySlice<UInt8>) -> Bool {
        ["http://ns.adobe.com/hdr-gain-map/", "http://ns.google.com/photos/1.0/container/"]
            .contains { end(of: $0, in: packet, from: 0) != nil }
    }

    /// Whether the packet holds a location under EXIF's names, such as `exif:GPSLatitude`.
    static func hasLocation(_ packet: [UInt8]) -> Bool { end(of: "GPS", in: packet[...], from: 0) != nil }

    /// The HTTP address of manifests of provenance (C2PA 2.1, section 11.5); `nil` if there is none.
    static func manifestURL(in packet: [UInt8]) -> String? {
        guard let value = manifestReference(in: packet, from: 0)?.value, value.count <= 2048,
            packet[value].allSatisfy({ (0x21...0x7e).contains($0) })
        else { return nil }
        // `&` is written as `&amp;`.
        let parts = packet[value].split(separator: 0x26, omittingEmptySubsequences: false)
        let text = parts.enumerated().map { index, part in
            String(decoding: index > 0 && part.starts(with: "amp;".utf8) ? part.dropFirst(4) : part, as: UTF8.self)
        }.joined(separator: "&")
        return text.hasPrefix("https://") || text.hasPrefix("http://") ? text : nil
    }

    /// Returns the packet without the addresses of manifests, which are signed for another file.
    static func withoutManifestURL(_ packet: [UInt8]) -> [UInt8] {
        var (result, rest) = ([UInt8](), 0)
        while let found = manifestReference(in: packet, from: rest)?.whole {
            result += packet[rest..<found.lowerBound]
            rest = found.upperBound
        }
        return rest == 0 ? packet : result + packet[rest...]
    }

    /// Finds the next address of manifests: an attribute, or an element.
    private static func manifestReference(
        in packet: [UInt8], from start: Int
    ) -> (whole: Range<Int>, value: Range<Int>)? {
        let name = "dcterms:provenance"
        var rest = start
        while let end = end(of: name, in: packet[...], from: rest) {
            rest = end
            let begin = end - name.utf8.count
            let next = packet[end...].drop { [0x20, 0x09, 0x0a, 0x0d, 0x3d].contains($0) }
            if let quote = next.first, [0x22, 0x27].contains(quote), next.startIndex > end {
                guard let close = next.dropFirst().firstIndex(of: quote) else { return nil }
                return (begin..<close + 1, next.startIndex + 1..<close)
            }
            if next.first == 0x3e, begin > 0, packet[begin - 1] == 0x3c {
                let closing = "</dcterms:provenance>"
                guard let close = Self.end(of: closing, in: packet[...], from: end) else { return nil }
                return (begin - 1..<close, next.startIndex + 1..<close - closing.utf8.count)
            }
        }
        return nil
    }

    /// Returns the end of the first match of a text at or after `start`; `nil` if there is none. The standard library's
    /// search would take a minute for a packet of 60 MB.
    private static func end(of text: String, in packet: ArraySlice<UInt8>, from start: Int) -> Int? {
        let text = Array(text.utf8)
        return packet.withUnsafeBytes { packet in
            text.withUnsafeBytes { text in
                guard let first = packet.baseAddress, let wanted = text.baseAddress else { return nil }
                var position = start
                while position + text.count <= packet.count {
                    let room = packet.count - text.count + 1 - position
                    guard let found = memchr(first + position, Int32(text[0]), room) else { return nil }
                    position = UnsafeRawPointer(found) - first
                    if memcmp(found, wanted, text.count) == 0 { return position + text.count }
                    position += 1
                }
                return nil
            }
        }
    }
}
