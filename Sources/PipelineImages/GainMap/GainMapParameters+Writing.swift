import Pipeline

extension GainMapParameters {
    /// The metadata of ISO 21496-1 (annex C), as ``init(iso:)`` reads it.
    var iso: [UInt8] {
        var bytes: [UInt8] = [0, 0, 0, 0]
        bytes.append((channels.count > 1 ? 0x80 : 0) | (usesBaseColorSpace ? 0x40 : 0))
        for headroom in [baseHeadroom, alternateHeadroom] { bytes += Fraction(headroom).bytes }
        for channel in channels {
            for number in [
                channel.minimum, channel.maximum, channel.gamma, channel.baseOffset, channel.alternateOffset,
            ] {
                bytes += Fraction(number).bytes
            }
        }
        return bytes
    }

    /// Adobe's properties (Gain map specification 1.0), for readers that don't know ISO 21496-1; `nil` for parameters that
    /// they can't say.
    var adobeProperties: String? {
        let offsets = channels.flatMap { [$0.baseOffset, $0.alternateOffset] }
        guard usesBaseColorSpace, baseHeadroom != alternateHeadroom, offsets.allSatisfy({ $0 >= 0 }) else { return nil }
        func elements(_ name: String, _ value: (Channel) -> Double) -> String {
            let values = channels.map { "<rdf:li>\(value($0))</rdf:li>" }.joined()
            return "<hdrgm:\(name)><rdf:Seq>\(values)</rdf:Seq></hdrgm:\(name)>"
        }
        let (low, high) = (min(baseHeadroom, alternateHeadroom), max(baseHeadroom, alternateHeadroom))
        return """
            <rdf:Description rdf:about="" xmlns:hdrgm="http://ns.adobe.com/hdr-gain-map/1.0/" hdrgm:Version="1.0" \
            hdrgm:BaseRenditionIsHDR="\(isBaseHDR ? "True" : "False")" hdrgm:HDRCapacityMin="\(low)" \
            hdrgm:HDRCapacityMax="\(high)">\
            \(elements("GainMapMin", \.minimum))\(elements("GainMapMax", \.maximum))\(elements("Gamma", \.gamma))\
            \(elements("OffsetSDR") { isBaseHDR ? $0.alternateOffset : $0.baseOffset })\
            \(elements("OffsetHDR") { isBaseHDR ? $0.baseOffset : $0.alternateOffset })\
            </rdf:Description>
            """
    }

    /// The closest fraction with 31 bits above and below, by continued fractions.
    private struct Fraction {
        private var above = 0
        private var below = 1

        init(_ number: Double) {
            let most = Double(Int32.max)
            let size = min(abs(number), most)
            var (rest, before) = (size, (above: 1, below: 0))
            (above, below) = (Int(rest.rounded(.down)), 1)
            while Double(above) / Double(below) != size {
                let part = rest - rest.rounded(.down)
                guard part > 0, 1 / part < most else { break }
                rest = 1 / part
                let next = (
                    above: Int(rest) * above + before.above, below: Int(rest) * below + before.below
                )
                guard next.above <= Int(Int32.max), next.below <= Int(Int32.max) else { break }
                before = (above, below)
                (above, below) = next
            }
            if number < 0 { above = -above }
        }

        var bytes: [UInt8] { (above & 0xffff_ffff).bigEndian(4) + below.bigEndian(4) }
    }
}
