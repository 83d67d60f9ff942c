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
        // The pixels that the part touches.
        func outer(_ first: Double, _ last: Double, _ count: Int) -> Range<Int> {
            let start = max(0, min(count - 1, Int((first + 0.001).rounded(.down))))
            return start..<max(start + 1, min(count, Int((last - 0.001).rounded(.up))))
        }
        let (columns, rows) = (outer(left, right, size.width), outer(top, bottom, size.height))
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
