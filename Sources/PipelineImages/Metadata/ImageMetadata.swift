public import Pipeline

/// What a file says of its picture, read without decoding a pixel.
///
/// ```swift
/// let metadata = try await ImageMetadata(of: bytes)
/// metadata.size           // 4032×2976, upright
/// metadata.capturedAt     // 2019-07-01T12:34:56+02:00
/// ```
public struct ImageMetadata: Sendable, Hashable {
    /// The file's format, by its bytes.
    public let format: ImageFormat
    /// The size in pixels, upright.
    public let size: PixelSize
    /// The size in pixels, as it is stored.
    public let storedSize: PixelSize
    /// What makes the stored pixels upright.
    public let orientation: ImageOrientation
    /// How many frames or pages the file has; 1 for a still picture. The frames of an APNG count, though only its first is
    /// decoded.
    public let frames: Int
    /// How often an animation plays; 0 is for ever, and so for a still picture.
    public let loopCount: Int
    /// Whether some pixel may be transparent.
    public let hasAlpha: Bool
    /// Bits a channel, as they are stored: 1 to 32.
    public let bitsPerChannel: Int
    /// What the colours are made of.
    public let colours: ColourModel
    /// The colour profile; `nil` where the file has none, which stands for sRGB.
    public let profile: ColourProfile?
    /// When the picture was taken, as the camera's clock said: ISO 8601, with the zone if the camera wrote it down
    /// (EXIF's DateTimeOriginal and OffsetTimeOriginal, else DateTime).
    public let capturedAt: String?
    /// The camera's maker and model (EXIF's Make and Model).
    public let camera: String?
    /// The lens (EXIF's LensModel).
    public let lens: String?
    /// Where the picture was taken (EXIF's GPSLatitude and GPSLongitude).
    public let location: Location?
    /// The bytes of the EXIF and XMP blocks; 0 without any.
    public let exifByteCount, xmpByteCount: Int
    /// The bytes of the file.
    public let byteCount: Int

    /// A place on the earth.
    public struct Location: Sendable, Hashable {
        /// Degrees; negative south of the equator, and west of Greenwich.
        public let latitude, longitude: Double
    }

    /// What colours are made of.
    public enum ColourModel: String, Sendable, Hashable, CaseIterable {
        /// Brightness alone.
        case grey
        /// Red, green and blue, whatever they are stored as.
        case rgb
        /// Ink: cyan, magenta, yellow and black.
        case cmyk
    }

    /// A colour profile that a file carries (ICC.1:2010).
    public struct ColourProfile: Sendable, Hashable {
        /// Its own description, such as `Display P3`; `nil` if it has none that can be read.
        public let name: String?
        /// Whether its colours are sRGB's, so that there is nothing to convert.
        public let isSRGB: Bool
        /// Its bytes.
        public let byteCount: Int
    }

    /// Reads a file's header and its metadata.
    /// - Parameters:
    ///   - bytes: the whole file.
    ///   - codecs: The formats that are read; by default ``ImageCodecs/standard``.
    ///   - limits: the bytes that the file may have, by default 64 million, and the time that reading may take, by default
    ///     30 seconds. Pixels may be any number, since none is decoded.
    ///   - priority: how urgent it is against other work with pixels.
    ///   - clock: what the time limit is measured by; by default the system's.
    ///   - threads: where the work is done; by default threads shared by all stages, one for each core.
    /// - Throws: `LoadError.Code.undecodable` if the bytes aren't an image or the header is damaged;
    ///   `LoadError.Code.unsupportedType` if the format isn't among them; `LoadError.Code.tooManyBytes`;
    ///   `LoadError.Code.tooMuchTime`;
    ///   `CancellationError`.
    public init(
        of bytes: [UInt8], codecs: ImageCodecs = .standard, limits: ImageLimits = ImageLimits(),
        priority: LoadPriority = .normal, clock: any LoadClock = SystemClock(), threads: BlockingThreads = .decoding
    ) async throws {
        try limits.check(encodedBytes: bytes.count)
        let decoder = try codecs.readableCodec(of: bytes).decoder
        self = try await threads.run(priority: priority) { cancellation in
            let cancellation = cancellation.limited(to: limits.time, by: clock)
            let header = try decoder.header(of: bytes, cancellation: cancellation)
            guard header.storedSize.width > 0, header.storedSize.height > 0 else {
                throw LoadError(.undecodable, subject: "", "The \(header.format) file's picture has no pixels.")
            }
            return ImageMetadata(bytes, header, try decoder.metadata(of: bytes, cancellation: cancellation))
        }
    }

    private init(_ bytes: [UInt8], _ header: ImageHeader, _ embedded: EmbeddedMetadata) {
        // A TIFF is itself such a block, with directories that a list of its texts lacks.
        let exif = EXIFBlock(bytes) ?? EXIFBlock(embedded.exif)
        let profile = embedded.profile.isEmpty ? nil : ICCProfile(embedded.profile)
        format = header.format
        size = header.size
        storedSize = header.storedSize
        orientation = header.orientation
        frames = max(header.frames, header.unreadFrames)
        loopCount = header.loopCount
        hasAlpha = header.hasAlpha
        bitsPerChannel = header.bitsPerChannel
        colours = header.colours ?? (profile?.space == "GRAY" ? .grey : profile?.space == "CMYK" ? .cmyk : .rgb)
        self.profile = profile.map {
            ColourProfile(name: $0.name, isSRGB: $0.isSRGB, byteCount: embedded.profile.count)
        }
        capturedAt = exif?.capturedAt
        camera = exif?.camera
        lens = exif.flatMap { $0.text(EXIFBlock.Tag.lensModel, in: $0.exposureEntries) }
        location = exif?.location
        exifByteCount = embedded.exif.count
        xmpByteCount = embedded.xmp.count
        byteCount = bytes.count
    }
}
