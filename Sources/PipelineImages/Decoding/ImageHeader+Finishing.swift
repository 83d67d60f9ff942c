import Pipeline

extension ImageHeader {
    /// The colour space in which pixels can stay; `nil` for sRGB, and for colours that have to be converted.
    private var sourceColors: PixelLayout.ColorSpace? {
        guard colors != .gray, colors != .cmyk else { return nil }
        if let convertedColors { return PixelLayout.ColorSpace(convertedColors) }
        return hasProfile ? profileColors : nil
    }

    /// The header of a decode that may leave pixels in the file's colour space and depth.
    package func keeping(_ options: DecodeOptions) -> ImageHeader {
        var header = self
        let isStill = min(frames, options.frames) <= 1
        let source = sourceColors
        let hasMap = gainMapMemory > 0 && isStill
        let isApplied: Bool
        if source?.needsDepth == true {
            // The map makes a better SDR picture than tone mapping does.
            let isRendered = !options.keepsHDR && hasMap && gainMapMakesSDR && holdsDepth
            header.pixelColors = isRendered || options.keepsHDR && holdsDepth && isStill ? source ?? .sRGB : .sRGB
            isApplied = isRendered
        } else {
            header.pixelColors = options.keepsColors ? source ?? .sRGB : .sRGB
            isApplied = options.makesHDR && hasMap && !gainMapMakesSDR
        }
        let wantsDepth = options.keepsDepth || header.pixelColors.needsDepth
        header.pixelType = wantsDepth && holdsDepth && isStill && header.keepsNumbers ? .uint16 : .uint8
        // Gains of single colours are for the file's primaries, and all are for its tones.
        header.keepsGainMap =
            (options.keepsGainMap || isApplied) && hasMap && header.keepsTones
            && (gainMapIsGray || header.keepsPrimaries)
        header.appliesGainMap = isApplied && header.keepsGainMap
        header.exchangesGainMap = header.appliesGainMap && gainMapMakesSDR && options.keepsGainMap
        header.stageDroppingGainMap = options.stageDroppingGainMap
        return header
    }

    /// Whether pixels in ``pixelColors`` have the file's numbers.
    private var keepsNumbers: Bool {
        if convertedColors != nil { return pixelColors != .sRGB }
        return !hasProfile || profileKeepsNumbers && (profileColors == nil || pixelColors != .sRGB)
    }

    /// The last step of every decoder: converts the pixels to sRGB, or leaves them in their colours, and turns them
    /// upright.
    /// - Parameters:
    ///   - pixels: The stored picture, scaled to `size`.
    ///   - profile: The colour profile of the pixels; `nil` or empty for sRGB.
    /// - Throws: `LoadError.Code.undecodable` if the colours can't be converted; `CancellationError`.
    func finished(
        _ pixels: consuming [UInt8], size: PixelSize, layout: PixelLayout, profile: [UInt8]?,
        _ cancellation: WorkCancellation
    ) throws -> [UInt8] {
        var pixels = pixels
        if pixelColors != .sRGB {
            if convertedColors == nil, let profile { ICCProfile(profile).unifyCurves(of: &pixels, layout) }
        } else if let convertedColors {
            try convertedColors.convertToSRGB(&pixels, channels: layout.channelCount, cancellation)
        } else if let profile, !profile.isEmpty {
            try ProfiledPixels.convertToSRGB(
                &pixels, size: size, channels: layout.channelCount, profile: profile, cancellation: cancellation)
        }
        guard orientation != .up else { return pixels }
        return try orientation.applied(
            to: pixels, size: size, channels: layout.channelCount, cancellation: cancellation)
    }

    /// Finishes the pixels and returns them as a still picture.
    func image(
        _ pixels: consuming [UInt8], size: PixelSize, layout: PixelLayout, profile: [UInt8]?,
        _ cancellation: WorkCancellation
    ) throws -> DecodedImage {
        try DecodedImage(
            validating: try finished(pixels, size: size, layout: layout, profile: profile, cancellation),
            size: orientation.applied(to: size), layout: layout, nativeSize: self.size, region: region)
    }

    /// Scales samples of 16 bits, turns them upright and returns them as a still picture.
    /// - Parameters:
    ///   - samples: The stored picture or its region.
    ///   - part: Its size.
    ///   - size: The size to scale to.
    func deepImage(
        _ samples: [UInt8], of part: PixelSize, layout: PixelLayout, scaledTo size: PixelSize,
        _ cancellation: WorkCancellation
    ) throws -> DecodedImage {
        var pixels = try DecodedImage(validating: samples, size: part, layout: layout)
            .resampled(to: size, cancellation).frames[0].bytes
        if orientation != .up {
            pixels = try orientation.applied(
                to: pixels, size: size, channels: layout.bytesPerPixel, cancellation: cancellation)
        }
        return try DecodedImage(
            validating: pixels, size: orientation.applied(to: size), layout: layout, nativeSize: self.size,
            region: region)
    }

    /// Takes the file's ICC profile; `nil` or empty without one.
    mutating func take(profile: [UInt8]?) {
        profileBytes = profile?.count ?? 0
        let profile = profile.map(ICCProfile.init)
        profileSpace = profile?.namedSpace
        profileColors = profile?.pixelColors
        profileKeepsNumbers = profile.map { $0.isSRGB || profileColors != nil && $0.hasUnifiedCurves } ?? false
    }

    /// Takes the file's gain map.
    mutating func take(_ map: GainMapDescription) {
        gainMap = map.standard
        gainMapMemory = map.size.map { map.memory($0, of: storedSize) } ?? 0
        gainMapIsGray = map.channelCount == 1
        gainMapMakesSDR = map.parameters?.isBaseHDR == true
    }

    /// Takes the colours of a file whose decoder applies their matrix and range. If the file has a profile, the profile
    /// describes the colours, and these numbers only matrix and range.
    mutating func take(_ colors: CodedColors?) {
        codedColors = colors
        convertedColors = colors.map(\.asFullRangeRGB).flatMap { !hasProfile && $0.differsFromSRGB ? $0 : nil }
    }
}
