import LibC
import Pipeline

extension GainMap {
    /// The map as a picture of its own.
    var picture: DecodedImage {
        DecodedImage(size: size, layout: channelCount == 1 ? .gray : .rgb, pixels: pixels)
    }

    /// The map turned as its picture is.
    func oriented(_ orientation: ImageOrientation, _ cancellation: WorkCancellation) throws -> GainMap {
        guard orientation != .up else { return self }
        let turned = try pixels.withUnsafeBufferPointer { pixels in
            try pixels.baseAddress.map {
                try orientation.applied(to: $0, size: size, channels: channelCount, cancellation: cancellation)
            }
        }
        return GainMap(
            self, pixels: turned ?? [], size: orientation.applied(to: size), part: part.oriented(orientation),
            isOnItsSide: orientation.swapsSides)
    }

    /// The map of a picture on a larger canvas, whose bars have no gain.
    /// - Parameters:
    ///   - place: Where the picture lies on the canvas, with its size.
    ///   - canvas: The canvas's size in pixels.
    func padded(_ place: PixelRegion, on canvas: PixelSize) -> GainMap {
        let across = Bars(
            part.x, part.width, of: size.width, place.size.width, place.x, canvas.width - place.right)
        let down = Bars(
            part.y, part.height, of: size.height, place.size.height, place.y, canvas.height - place.bottom)
        let padded = PixelSize(width: across.count, height: down.count)
        let bar = (0..<channelCount).map { parameters.levelWithoutGain($0) }
        let line = [UInt8]((0..<padded.width).flatMap { _ in bar })
        var levels: [UInt8] = []
        levels.reserveCapacity(padded.bytes(channelCount))
        for _ in 0..<down.before { levels += line }
        for row in down.kept {
            let start = row * size.width
            levels += line[..<(across.before * channelCount)]
            levels +=
                pixels[
                    (start + across.kept.lowerBound) * channelCount..<(start + across.kept.upperBound) * channelCount]
            levels += line[..<(across.after * channelCount)]
        }
        for _ in 0..<down.after { levels += line }
        return GainMap(
            self, pixels: levels, size: padded,
            part: Part(x: across.start, y: down.start, width: across.length, height: down.length))
    }

    /// The pixels of a padded map along one axis.
    private struct Bars {
        /// Those of the map that lie over the picture.
        let kept: Range<Int>
        /// How many are added.
        let before, after: Int
        /// The part of the new map that lies over the canvas.
        let start, length: Double

        var count: Int { before + kept.count + after }

        init(_ start: Double, _ length: Double, of pixels: Int, _ picture: Int, _ left: Int, _ right: Int) {
            let (first, last) = (start * Double(pixels), (start + length) * Double(pixels))
            kept = GainMap.pixels(from: first, to: last, of: pixels)
            let scale = (last - first) / Double(picture)
            before = Int((Double(left) * scale).rounded(.up))
            after = Int((Double(right) * scale).rounded(.up))
            let count = Double(before + kept.count + after)
            self.start = (first - Double(kept.lowerBound) + Double(before) - Double(left) * scale) / count
            self.length = (last - first + Double(left + right) * scale) / count
        }
    }

    /// The pixels that a part touches along one axis.
    private static func pixels(from first: Double, to last: Double, of count: Int) -> Range<Int> {
        let start = max(0, min(count - 1, Int((first + 0.001).rounded(.down))))
        return start..<max(start + 1, min(count, Int((last - 0.001).rounded(.up))))
    }

    /// The map as it is written with a picture: its part alone, with as many pixels for each of the picture's as the source
    /// had, or half as many across and down if there are enough: a map that is reduced further lacks what the reduced picture
    /// shows (`Scripts/gain-map-geometry`).
    /// - Parameter picture: The picture's size in pixels.
    func fitted(to picture: PixelSize, _ cancellation: WorkCancellation) throws -> GainMap {
        let (left, right) = (part.x * Double(size.width), (part.x + part.width) * Double(size.width))
        let (top, bottom) = (part.y * Double(size.height), (part.y + part.height) * Double(size.height))
        func side(_ length: Int, _ stored: Int, _ source: Int, _ most: Double) -> Int {
            // A hundredth of a pixel is a rounding error.
            let share = Double(length) * max(0.5, Double(stored) / Double(source))
            return Int(max(1, min((share - 0.01).rounded(.up), (most - 0.01).rounded(.up))))
        }
        let target = PixelSize(
            width: side(picture.width, storedSize.width, pictureSize.width, right - left),
            height: side(picture.height, storedSize.height, pictureSize.height, bottom - top))
        let columns = Self.pixels(from: left, to: right, of: size.width)
        let rows = Self.pixels(from: top, to: bottom, of: size.height)
        let window = PixelSize(width: columns.count, height: rows.count)
        let cut =
            window == size
            ? pixels
            : rows.flatMap { row in
                let start = row * size.width
                return pixels[
                    (start + columns.lowerBound) * channelCount..<(start + columns.upperBound) * channelCount]
            }
        var plan = ResamplePlan(from: window, to: target, reserve: DecodeQuality.quality.blockReserve)
        plan.origin = (max(0, left - Double(columns.lowerBound)), max(0, top - Double(rows.lowerBound)))
        plan.extent = (
            min(right - left, Double(window.width) - plan.origin.x),
            min(bottom - top, Double(window.height) - plan.origin.y)
        )
        let partial = Double(window.width + window.height) - plan.extent.width - plan.extent.height
        if target == window, partial < 0.01 { return GainMap(self, pixels: cut, size: target) }
        let scaled = try cut.withUnsafeBufferPointer { cut in
            try cut.baseAddress.map {
                try Resampler.scaled(
                    $0, plan, layout: channelCount == 1 ? .gray : .rgb, cancellation: cancellation)
            }
        }
        return GainMap(self, pixels: scaled ?? [], size: target)
    }
}

extension GainMap {
    /// Two neighbours among a map's columns or rows, and how far a place is from the first.
    struct Place {
        fileprivate let first, second: Int
        fileprivate let share: Double

        /// - Parameters:
        ///   - distance: From the edge, in pixels.
        ///   - count: The columns or rows.
        init(_ distance: Double, of count: Int) {
            let place = min(Double(count - 1), max(0, distance - 0.5))
            first = Int(place)
            second = min(count - 1, first + 1)
            share = place - Double(first)
        }
    }

    /// The level of a channel from 0 to 1, between the map's pixels.
    func level(_ column: Place, _ row: Place, _ channel: Int) -> Double {
        pixels.withUnsafeBufferPointer { pixels in
            func pixel(_ x: Int, _ y: Int) -> Double { Double(pixels[(y * size.width + x) * channelCount + channel]) }
            let top =
                pixel(column.first, row.first) * (1 - column.share) + pixel(column.second, row.first) * column.share
            let bottom =
                pixel(column.first, row.second) * (1 - column.share) + pixel(column.second, row.second) * column.share
            return (top * (1 - row.share) + bottom * row.share) / 255
        }
    }

    /// The map of a picture over which something without gain lies.
    /// - Parameters:
    ///   - coverage: How much of each of the picture's pixels that hides, from 0 to 255, row by row.
    ///   - picture: The picture's size in pixels.
    func covered(
        by coverage: [UInt8], of picture: PixelSize, _ cancellation: WorkCancellation
    ) throws -> GainMap {
        let bare = (0..<channelCount).map { Double(parameters.levelWithoutGain($0)) }
        /// The picture's pixels that lie under one of the map's, along one axis; the nearest one of its edge for none.
        func under(_ index: Int, _ count: Int, _ start: Double, _ length: Double, _ picture: Int) -> Range<Int> {
            func place(_ edge: Int) -> Double {
                (Double(edge) / Double(count) - start) / length * Double(picture)
            }
            let first = max(0, min(picture - 1, Int(max(-1, min(Double(picture), place(index).rounded(.down))))))
            let last = Int(max(0, min(Double(picture), place(index + 1).rounded(.up))))
            return first..<max(first + 1, last)
        }
        let columns = (0..<size.width).map { under($0, size.width, part.x, part.width, picture.width) }
        var levels = pixels
        for row in 0..<size.height {
            try cancellation.check()
            let rows = under(row, size.height, part.y, part.height, picture.height)
            for (column, columns) in columns.enumerated() {
                var sum = 0
                for y in rows { for x in columns { sum += Int(coverage[y * picture.width + x]) } }
                guard sum > 0 else { continue }
                let share = Double(sum) / Double(255 * rows.count * columns.count)
                for channel in 0..<channelCount {
                    let place = (row * size.width + column) * channelCount + channel
                    let level = Double(levels[place])
                    levels[place] = UInt8((level + (bare[channel] - level) * share).rounded())
                }
            }
        }
        return GainMap(self, pixels: levels, size: size, part: part)
    }
}

extension GainMapParameters {
    /// The level of a channel of the map that leaves light as it is, or comes closest to that.
    func levelWithoutGain(_ channel: Int) -> UInt8 {
        let channel = channels[min(channel, channels.count - 1)]
        guard channel.maximum > channel.minimum else { return 0 }
        let share = min(1, max(0, -channel.minimum / (channel.maximum - channel.minimum)))
        return UInt8((255 * pow(share, channel.gamma)).rounded())
    }
}

extension GainMap.Part {
    fileprivate func oriented(_ orientation: ImageOrientation) -> Self {
        let (right, bottom) = (1 - x - width, 1 - y - height)
        switch orientation {
        case .up: return self
        case .upMirrored: return Self(x: right, y: y, width: width, height: height)
        case .down: return Self(x: right, y: bottom, width: width, height: height)
        case .downMirrored: return Self(x: x, y: bottom, width: width, height: height)
        case .leftMirrored: return Self(x: y, y: x, width: height, height: width)
        case .right: return Self(x: bottom, y: x, width: height, height: width)
        case .rightMirrored: return Self(x: bottom, y: right, width: height, height: width)
        case .left: return Self(x: y, y: right, width: height, height: width)
        }
    }
}
