import Pipeline
import PipelineImages

extension Message {
    /// The largest size, count of bytes or number of frames that a message may have. No format has larger ones.
    static let largest = 1 << 40

    mutating func append(_ size: PixelSize) {
        append(size.width)
        append(size.height)
    }

    /// Adds a size that may be missing.
    mutating func append(_ size: PixelSize?) {
        append(size != nil)
        append(size ?? PixelSize(square: 0))
    }

    mutating func append(_ region: PixelRegion?) {
        append(region != nil)
        append(region?.x ?? 0)
        append(region?.y ?? 0)
        append(region?.size ?? PixelSize(square: 0))
    }

    /// Adds colours that may be missing.
    mutating func append(_ colors: CodedColors?) {
        append(colors != nil)
        append(colors?.primaries ?? 0)
        append(colors?.transfer ?? 0)
        append(colors?.matrix ?? 0)
        append(colors?.isFullRange ?? false)
    }

    /// Adds a header.
    /// - Parameter formats: The helper's formats. A header's format is sent as its place among them.
    mutating func append(_ header: ImageHeader, _ formats: [ImageFormat]) {
        append(formats.firstIndex(of: header.format) ?? formats.count)
        append(header.storedSize)
        append(header.codedSize)
        append(header.orientation.rawValue)
        append(header.frames)
        append(header.loopCount)
        append(header.hasAlpha)
        append(header.hasProfile)
        append(header.bitsPerChannel)
        append(header.colors.flatMap { ImageMetadata.ColorModel.allCases.firstIndex(of: $0) } ?? -1)
        append(header.memory)
        append(header.readsRegions)
        append(header.isVector)
        append(header.region)
        append(header.profileBytes)
        append(header.missingCharacters)
        append(header.missingCharacter)
        append(header.missingPictures)
        append(header.hasProvenance)
        append(header.wholeBytes)
        append(header.wholeLimit)
        append(header.excessPixels)
        append(header.codedColors)
        append(header.convertedColors)
        append(header.profileSpace.flatMap { NamedColorSpace.allCases.firstIndex(of: $0) } ?? -1)
        append(Int(header.profileColors?.rawValue ?? 0))
        append(header.profileKeepsNumbers)
        append(header.holdsDepth)
        append(header.gainMap.flatMap { GainMapDescription.Standard.allCases.firstIndex(of: $0) } ?? -1)
        append(header.gainMapMemory)
        append(header.gainMapIsGray)
        append(header.gainMapMakesSDR)
    }
}

extension Message.Reader {
    mutating func nextSize() throws(Message.Malformed) -> PixelSize {
        PixelSize(width: try next(in: 0...Message.largest), height: try next(in: 0...Message.largest))
    }

    /// Reads a size that the program knows.
    mutating func nextSize(equalTo size: PixelSize) throws(Message.Malformed) {
        _ = try next(in: size.width...size.width)
        _ = try next(in: size.height...size.height)
    }

    mutating func nextOptionalSize() throws(Message.Malformed) -> PixelSize? {
        let (isPresent, size) = (try nextBool(), try nextSize())
        return isPresent ? size : nil
    }

    mutating func nextRegion() throws(Message.Malformed) -> PixelRegion? {
        let isPresent = try nextBool()
        let (x, y) = (try next(in: 0...Message.largest), try next(in: 0...Message.largest))
        let size = try nextSize()
        return isPresent ? PixelRegion(x: x, y: y, size: size) : nil
    }

    /// Reads the place of a case, or -1 for none.
    mutating func nextCase<Value: CaseIterable>(of type: Value.Type) throws(Message.Malformed) -> Value?
    where Value.AllCases == [Value] {
        let place = try next(in: -1...Value.allCases.count - 1)
        return place < 0 ? nil : Value.allCases[place]
    }

    mutating func nextColors() throws(Message.Malformed) -> CodedColors? {
        let isPresent = try nextBool()
        let colors = CodedColors(
            primaries: try next(in: 0...65_535), transfer: try next(in: 0...65_535), matrix: try next(in: 0...65_535),
            isFullRange: try nextBool())
        return isPresent ? colors : nil
    }

    mutating func nextColorSpace() throws(Message.Malformed) -> PixelLayout.ColorSpace {
        PixelLayout.ColorSpace(rawValue: UInt16(try next(in: 0...65_535)))
    }

    /// Reads the header that a worker has found, and compares it with what the program knows of the file.
    /// - Parameter codec: The place of the file's format among the formats.
    mutating func nextHeader(
        _ formats: [ImageFormat], of codec: Int, fileBytes: Int
    ) throws(Message.Malformed) -> ImageHeader {
        let header = try nextHeader(formats)
        guard header.format == formats[codec] else { throw Message.Malformed("it is a header of \(header.format)") }
        // The pages of a TIFF may form a circle, in which its decoder counts up to 65,536.
        guard header.frames <= max(65_536, fileBytes) else {
            throw Message.Malformed("\(header.frames) frames in \(fileBytes) bytes")
        }
        guard header.region == nil else { throw Message.Malformed("it has a region that nobody asked for") }
        return header
    }

    /// Reads a header.
    mutating func nextHeader(_ formats: [ImageFormat]) throws(Message.Malformed) -> ImageHeader {
        // The index was checked against the list.
        var header = ImageHeader(format: formats[try next(in: 0...formats.count - 1)], storedSize: try nextSize())
        header.codedSize = try nextSize()
        guard let orientation = ImageOrientation(rawValue: try next(in: 1...8)) else {
            throw Message.Malformed("there is no such orientation")
        }
        header.orientation = orientation
        header.frames = try next(in: 0...Message.largest)
        header.loopCount = try next(in: 0...Message.largest)
        header.hasAlpha = try nextBool()
        header.hasProfile = try nextBool()
        header.bitsPerChannel = try next(in: 0...65_535)
        header.colors = try nextCase(of: ImageMetadata.ColorModel.self)
        // An estimate that overflowed is the greatest number.
        header.memory = try next(in: 0...Int.max)
        header.readsRegions = try nextBool()
        header.isVector = try nextBool()
        header.region = try nextRegion()
        header.profileBytes = try next(in: 0...Message.largest)
        header.missingCharacters = try next(in: 0...Message.largest)
        header.missingCharacter = try next(in: 0...0x10_ffff)
        header.missingPictures = try next(in: 0...Message.largest)
        header.hasProvenance = try nextBool()
        header.wholeBytes = try next(in: 0...64)
        header.wholeLimit = try next(in: 0...Int.max)
        header.excessPixels = try next(in: 1...64)
        header.codedColors = try nextColors()
        header.convertedColors = try nextColors()
        header.profileSpace = try nextCase(of: NamedColorSpace.self)
        let profileColors = try nextColorSpace()
        header.profileColors = profileColors.rawValue == 0 ? nil : profileColors
        header.profileKeepsNumbers = try nextBool()
        header.holdsDepth = try nextBool()
        header.gainMap = try nextCase(of: GainMapDescription.Standard.self)
        header.gainMapMemory = try next(in: 0...Int.max)
        header.gainMapIsGray = try nextBool()
        header.gainMapMakesSDR = try nextBool()
        return header
    }
}
