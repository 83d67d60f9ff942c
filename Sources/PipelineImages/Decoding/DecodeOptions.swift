/// The options of a decode, apart from the size.
public struct DecodeOptions: Sendable, Hashable {
    /// Whether a truncated or damaged file yields its readable part; by default it is an error.
    public var allowTruncated: Bool
    /// How many frames of an animation to decode; 1 by default.
    public var frames: Int

    /// The quality of a reduced decode; ``DecodeQuality/quality`` by default.
    public var quality: DecodeQuality

    /// Whether pixels stay in the file's own colour space, if a layout can name it; by default they become sRGB's.
    package var keepsColors = false
    /// Whether a still picture has 16 bits a channel if the file has more than 8 and the decoder can; by default it has 8.
    package var keepsDepth = false
    /// Whether a still picture in PQ, HLG or linear light stays so, with 16 bits a channel; by default its tones are mapped.
    package var keepsHDR = false
    /// Whether a gain map that leads to HDR is applied; by default none is.
    package var makesHDR = false
    /// Whether a gain map is decoded too; by default it isn't.
    package var keepsGainMap = false
    /// The stage that doesn't keep a gain map, if a list would keep it otherwise.
    package var stageDroppingGainMap: String?

    /// Creates options; omitted ones have their defaults.
    public init(allowTruncated: Bool = false, frames: Int = 1, quality: DecodeQuality = .quality) {
        self.quality = quality
        self.allowTruncated = allowTruncated
        self.frames = max(1, frames)
    }
}
