/// Makes XMP packets for new pictures of those of their sources.
enum XMPRewriting {
    /// The packet with the orientation set to upright; empty if it tells of a second picture in the file (a gain map),
    /// which the new file doesn't have.
    static func corrected(_ packet: [UInt8]) -> [UInt8] {
        let secondPictures = ["http://ns.adobe.com/hdr-gain-map/", "http://ns.google.com/photos/1.0/container/"]
        for name in secondPictures where packet.firstRange(of: Array(name.utf8)) != nil { return [] }
        var packet = packet
        // As an attribute and as an element.
        for name in ["tiff:Orientation=\"", "tiff:Orientation='", "tiff:Orientation>"] {
            var rest = packet.startIndex
            while let found = packet[rest...].firstRange(of: Array(name.utf8)) {
                rest = found.upperBound
                if rest < packet.endIndex, (0x32...0x39).contains(packet[rest]) { packet[rest] = 0x31 }
            }
        }
        return packet
    }
}
