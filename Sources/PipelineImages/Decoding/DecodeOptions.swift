/// What a decoder is asked for besides the size.
public struct DecodeOptions: Sendable, Hashable {
    /// Whether a file that is cut off or damaged gives what can be read of it; by default it is an error.
    public var allowTruncated: Bool
    /// How many frames of an animation to decode; 1 by default.
    public var frames: Int

    /// How near a reduced picture has to come to the best that can be made of the source; ``DecodeQuality/quality`` by
    /// default.
    public var quality: DecodeQuality

    /// Sets options; what is left out has its default.
    public init(allowTruncated: Bool = false, frames: Int = 1, quality: DecodeQuality = .quality) {
        self.quality = quality
        self.allowTruncated = allowTruncated
        self.frames = max(1, frames)
    }
}
