/// The gain map of a picture: a second picture that says how much brighter each place of the first one is on a display with
/// headroom (ISO 21496-1).
///
/// It covers the same view and mostly has fewer pixels. What cuts, scales or turns the picture does the same to the map, so
/// that both stay in step:
///
/// ```swift
/// let part = PixelRegion(x: 0, y: 0, size: PixelSize(width: image.width, height: image.height / 2))
/// var top = cut(image, to: part)
/// top.gainMap = image.gainMap?.cropped(to: part, of: image.size)
/// ```
///
/// A stage that only scales hands the map on as it is.
public final class GainMap: Sendable {
    /// A rectangle, in shares of the whole map's sides.
    package struct Part: Sendable, Hashable {
        package var x = 0.0
        package var y = 0.0
        package var width = 1.0
        package var height = 1.0

        package init(x: Double = 0, y: Double = 0, width: Double = 1, height: Double = 1) {
            (self.x, self.y, self.width, self.height) = (x, y, width, height)
        }
    }

    /// The size of the whole map in pixels.
    public let size: PixelSize
    /// 1 for a gain that all colours share, 3 for gains of red, green and blue.
    public let channelCount: Int
    /// `width × height × channelCount` bytes, row by row from the top left of the upright picture. The parameters say which
    /// gains they stand for.
    public let pixels: [UInt8]
    /// The numbers by which it is applied. They have at least one channel.
    public let parameters: GainMapParameters
    /// The part of the map that lies over the picture, once the picture has been cut; else all of it.
    package let part: Part
    /// The sizes of the map and of the picture in the source, turned as they are now. A reduced picture gets a map that is
    /// reduced to the same share.
    package let storedSize, pictureSize: PixelSize
    /// The ICC profile of the colours in which the map is applied, if those aren't the picture's; else empty.
    package let profile: [UInt8]

    /// Makes a map of the whole picture. Returns `nil` if the numbers don't make a map: the bytes have to fill the size, with
    /// 1 or 3 channels, and the parameters have to have channels.
    /// - Parameters:
    ///   - size: The map's size, which may have been reduced.
    ///   - stored: Its size in the source.
    ///   - picture: The size of the source's picture. All are in pixels, upright.
    package init?(
        _ pixels: [UInt8], size: PixelSize, channelCount: Int, _ parameters: GainMapParameters, stored: PixelSize,
        of picture: PixelSize, part: Part = Part(), profile: [UInt8] = []
    ) {
        let (area, overflows) = size.width.multipliedReportingOverflow(by: size.height)
        guard size.width > 0, size.height > 0, picture.width > 0, picture.height > 0, [1, 3].contains(channelCount),
            !overflows, area <= .max / 3, pixels.count == area * channelCount, !parameters.channels.isEmpty
        else { return nil }
        (self.size, self.channelCount, self.pixels, self.parameters) = (size, channelCount, pixels, parameters)
        (self.part, self.profile) = (part, profile)
        (storedSize, pictureSize) = (stored, picture)
    }

    /// The most bytes of ``profile``: those of one segment of a JPEG.
    package static let mostProfileBytes = 65_519

    /// Makes a map with other pixels of the same gains.
    package init(_ map: GainMap, pixels: [UInt8], size: PixelSize, part: Part = Part(), isOnItsSide: Bool = false) {
        (self.size, self.pixels, self.part) = (size, pixels, part)
        (channelCount, parameters, profile) = (map.channelCount, map.parameters, map.profile)
        func turned(_ size: PixelSize) -> PixelSize {
            isOnItsSide ? PixelSize(width: size.height, height: size.width) : size
        }
        (storedSize, pictureSize) = (turned(map.storedSize), turned(map.pictureSize))
    }

    /// The map of a part of the picture.
    /// - Parameters:
    ///   - region: The part, in pixels of the picture.
    ///   - whole: The picture's size in pixels.
    public func cropped(to region: PixelRegion, of whole: PixelSize) -> GainMap {
        guard region.lies(in: whole), region.size != whole else { return self }
        let (across, down) = (part.width / Double(whole.width), part.height / Double(whole.height))
        let part = Part(
            x: part.x + Double(region.x) * across, y: part.y + Double(region.y) * down,
            width: Double(region.size.width) * across, height: Double(region.size.height) * down)
        return GainMap(self, pixels: pixels, size: size, part: part)
    }
}

extension GainMap: Equatable {
    /// Whether two maps have the same pixels, parameters and part.
    public static func == (one: GainMap, other: GainMap) -> Bool {
        one === other
            || one.size == other.size && one.channelCount == other.channelCount && one.parameters == other.parameters
                && one.part == other.part && one.storedSize == other.storedSize
                && one.pictureSize == other.pictureSize && one.profile == other.profile
                && one.pixels == other.pixels
    }
}

/// What a list does with a picture's ``GainMap``.
///
/// Without a choice, lists that end in a file's bytes keep it as long as each stage and the file's format can, and all others
/// drop it.
public enum GainMapHandling: String, Sendable, Hashable, CaseIterable {
    /// The map follows what is done to the picture, if every later stage keeps it (``ColorKeeping/keepsGainMap``).
    case keep
    /// The map is applied, and the result is the HDR picture, in PQ (``PixelLayout/ColorSpace/bt2100PQ``), if every later stage
    /// takes it (``ColorKeeping/keepsHDR``); otherwise the map is dropped. A picture that is HDR without the map stays as it
    /// is.
    case apply
    /// The result is the picture without the map.
    case drop
}
