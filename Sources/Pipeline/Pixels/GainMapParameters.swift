/// The numbers by which a gain map is applied, in the terms of ISO 21496-1.
///
/// Headrooms are in stops: 0 is the white of a display without headroom, and each stop is twice as bright. They are
/// never negative. All numbers are finite.
public struct GainMapParameters: Sendable, Hashable {
    /// How the levels of one of the map's channels stand for gains.
    public struct Channel: Sendable, Hashable {
        /// The gains at the map's lowest and highest level, in stops. The minimum is never above the maximum.
        public let minimum, maximum: Double
        /// The power by which the map's levels are encoded; above 0.
        public let gamma: Double
        /// What is added to the light of the base and of the alternate picture, so that black has a gain too.
        public let baseOffset, alternateOffset: Double

        /// Describes a channel.
        package init(minimum: Double, maximum: Double, gamma: Double, baseOffset: Double, alternateOffset: Double) {
            (self.minimum, self.maximum, self.gamma) = (minimum, maximum, gamma)
            (self.baseOffset, self.alternateOffset) = (baseOffset, alternateOffset)
        }
    }

    /// The headroom for which the stored picture is made; 0 for a picture that any display shows.
    public let baseHeadroom: Double
    /// The headroom for which the picture is made once the whole map is applied.
    public let alternateHeadroom: Double
    /// Whether the map is applied in the base picture's primaries, and not in those of the alternate picture. `true` for
    /// Adobe's and Apple's maps, whose pictures share theirs.
    public let usesBaseColorSpace: Bool
    /// One channel for all colours, or red, green and blue. Empty for Apple's maps, which only have a headroom.
    public let channels: [Channel]

    /// Whether the stored picture is the HDR one, and the map leads to SDR.
    public var isBaseHDR: Bool { baseHeadroom > alternateHeadroom }

    /// Describes a gain map.
    /// - Throws: `GainMapFault` if the numbers break a rule of ISO 21496-1.
    package init(
        checking channels: [Channel], base: Double, alternate: Double, usesBaseColorSpace: Bool
    ) throws(GainMapFault) {
        guard [0, 1, 3].contains(channels.count) else { throw GainMapFault("it has \(channels.count) channels") }
        for headroom in [base, alternate] where !(headroom.isFinite && headroom >= 0) {
            throw GainMapFault("a headroom is \(headroom)")
        }
        for channel in channels {
            guard channel.minimum.isFinite, channel.maximum.isFinite, channel.baseOffset.isFinite,
                channel.alternateOffset.isFinite
            else { throw GainMapFault("a number isn't finite") }
            guard channel.gamma.isFinite, channel.gamma > 0 else {
                throw GainMapFault("its gamma is \(channel.gamma)")
            }
            guard channel.minimum <= channel.maximum else {
                throw GainMapFault("its minimum \(channel.minimum) is above its maximum \(channel.maximum)")
            }
        }
        (baseHeadroom, alternateHeadroom) = (base, alternate)
        (self.usesBaseColorSpace, self.channels) = (usesBaseColorSpace, channels)
    }
}

/// Why a gain map's parameters can't be read.
package struct GainMapFault: Error {
    package let reason: String

    package init(_ reason: String) { self.reason = reason }
}
