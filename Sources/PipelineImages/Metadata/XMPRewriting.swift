import LibC

/// Makes the XMP packet of a new picture from that of its source.
enum XMPRewriting {
    /// Returns the packet with the orientation set to upright; empty if it describes a second picture (a gain map),
    /// which the new file doesn't have.
    static func corrected(_ packet: [UInt8]) -> [UInt8] {
        if hasSecondPicture(packet) { return [] }
        var packet = packet
        // As an attribute and as an element.
        for name in ["tiff:Orientation=\"", "tiff:Orientation='", "tiff:Orientation>"] {
            var rest = 0
            while let found = end(of: name, in: packet, from: rest) {
                rest = found
                if rest < packet.endIndex, (0x32...0x39).contains(packet[rest]) { packet[rest] = 0x31 }
            }
        }
        return packet
    }

    /// Whether the packet describes a second picture in the file.
    static func hasSecondPicture(_ packet: [UInt8]) -> Bool {
        ["http://ns.adobe.com/hdr-gain-map/", "http://ns.google.com/photos/1.0/container/"]
            .contains { end(of: $0, in: packet, from: 0) != nil }
    }

    /// Whether the packet holds a location under EXIF's names, such as `exif:GPSLatitude`.
    static func hasLocation(_ packet: [UInt8]) -> Bool { end(of: "GPS", in: packet, from: 0) != nil }

    /// Returns the end of the first match of a text at or after `start`; `nil` if there is none. The standard library's
    /// search would take a minute for a packet of 60 MB.
    private static func end(of text: String, in packet: [UInt8], from start: Int) -> Int? {
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
