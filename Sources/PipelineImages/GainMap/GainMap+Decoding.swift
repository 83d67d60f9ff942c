import LibC
import Pipeline

extension GainMap {
    /// Makes the map that belongs to a decoded picture.
    /// - Parameters:
    ///   - pixels: The stored map's pixels, in grey or RGB, reduced to `size`.
    ///   - stored: The map's size in the file.
    ///   - header: That of the picture.
    ///   - profile: The profile of the map's own file.
    convenience init?(
        decoded pixels: [UInt8], size: PixelSize, _ layout: PixelLayout, _ parameters: GainMapParameters,
        stored: PixelSize, of header: ImageHeader, profile: [UInt8], _ cancellation: WorkCancellation
    ) throws {
        let (levels, parameters) = parameters.spelledOut(pixels)
        let profile = parameters.usesBaseColorSpace ? [] : profile
        guard profile.count <= Self.mostProfileBytes,
            let map = GainMap(
                levels, size: size, channelCount: layout.channelCount, parameters, stored: stored,
                of: header.storedSize, profile: profile)
        else { return nil }
        let upright = try map.oriented(header.orientation, cancellation)
        self.init(upright, pixels: upright.pixels, size: upright.size, part: header.shownPart)
    }
}

extension GainMapParameters {
    /// Levels and parameters that say by ISO 21496-1 what Apple's maps say by their headroom alone: a level is the light above
    /// white, as a share of the headroom's and coded with the curve of ITU-R BT.709 ("Applying Apple HDR effect to your
    /// photos"). Others are returned as they are.
    fileprivate func spelledOut(_ levels: [UInt8]) -> ([UInt8], GainMapParameters) {
        let stops = alternateHeadroom
        let channel = Channel(minimum: 0, maximum: stops, gamma: 1, baseOffset: 0, alternateOffset: 0)
        guard channels.isEmpty,
            let spelled = try? GainMapParameters(
                checking: [channel], base: baseHeadroom, alternate: stops, usesBaseColorSpace: true)
        else { return (levels, self) }
        let table = (0...255).map { level -> UInt8 in
            let coded = Double(level) / 255
            let light = coded < 0.081 ? coded / 4.5 : pow((coded + 0.099) / 1.099, 1 / 0.45)
            let gain = log2(1 + (exp2(stops) - 1) * light)
            return stops > 0 ? UInt8((255 * min(1, gain / stops)).rounded()) : 0
        }
        return (levels.map { table[Int($0)] }, spelled)
    }
}

extension PixelSize {
    /// The size of a map whose picture is reduced from one size to another, as far as ``GainMap/fitted(to:_:)`` may need it.
    func reduced(by size: PixelSize, of whole: PixelSize) -> PixelSize {
        func side(_ length: Int, _ size: Int, _ whole: Int) -> Int {
            let share = Double(size) * max(0.5, Double(length) / Double(max(1, whole)))
            return max(1, min(length, Int((share - 0.01).rounded(.up))))
        }
        return PixelSize(width: side(width, size.width, whole.width), height: side(height, size.height, whole.height))
    }
}
