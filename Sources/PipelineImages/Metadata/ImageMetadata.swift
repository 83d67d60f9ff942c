public import Pipeline

/// The metadata of an image file, read without decoding a pixel.
///
/// ```swift
/// let metadata = try await ImageMetadata(of: bytes)
/// metadata.size           // 4032×2976, upright
/// metadata.capturedAt     // 2019-07-01T12:34:56+02:00
/// ```
public struct ImageMetadata: Sendable, Hashable {
    /// The file's format, by its bytes.
    public let format: ImageFormat
    /// The upright size in pixels.
    public let size: PixelSize
    /// The stored size in pixels.
    public let storedSize: PixelSize
    /// How the stored pixels are turned upright.
    public let orientation: ImageOrientation
    /// The number of frames or pages; 1 for a still picture.
    public let frames: Int
    /// How often an animation plays; 0 means forever. It is 0 for most still pictures.
    public let loopCount: Int
    /// Whether some pixel may be transparent.
    public let hasAlpha: Bool
    /// Bits a channel, as stored: 1 to 32.
    public let bitsPerChannel: Int
    /// The colour model.
    public let colors: ColorModel
    /// The colour profile; `nil` if the file has none, which means sRGB unless ``codedColors`` say otherwise.
    public let profile: ColorProfile?
    /// The colours as numbers (CICP), with or without a profile; `nil` if the file has none. In a PNG they go before
    /// the profile. In AVIF and HEIC a profile goes before their primaries and transfer characteristics.
    public let codedColors: CodedColors?
    /// When the picture was taken by the camera's clock, in ISO 8601 with the zone if the camera recorded it (EXIF's
    /// DateTimeOriginal and OffsetTimeOriginal, else DateTime).
    public let capturedAt: String?
    /// The camera's maker and model (EXIF's Make and Model).
    public let camera: String?
    /// The lens (EXIF's LensModel).
    public let lens: String?
    /// Where the picture was taken (EXIF's GPSLatitude and GPSLongitude).
    public let location: Location?
    /// The colour space by its name, such as `Display P3`: that of a profile's primaries, else a profile's own name, else
    /// that of ``codedColors``. A file that says nothing is sRGB.
    public let colorSpaceName: String
    /// The name of the function from levels to light: `sRGB`, `PQ`, `HLG`, `linear`, `gamma 2.2`, or `table` for a
    /// profile's own curve; `nil` if a profile has none.
    public let transferName: String?
    /// The file's gain map, which decoding drops; `nil` if there is none. Found in JPEG, AVIF and HEIC.
    public let gainMap: GainMapDescription?
    /// The display on which the colours were judged; `nil` if the file says nothing of it. Found in PNG, AVIF and HEIC.
    public let mastering: MasteringMetadata?
    /// The manifests that say where the picture comes from and how it was changed (C2PA); `nil` if there are none. Found
    /// in JPEG, PNG, WebP, AVIF and HEIC. A picture that is made of the file has none: they are signed for its bytes.
    public let provenance: Provenance?
    /// The sizes of the EXIF and XMP blocks in bytes; 0 without a block.
    public let exifByteCount, xmpByteCount: Int
    /// The size of the file in bytes.
    public let byteCount: Int

    /// A place on Earth.
    public struct Location: Sendable, Hashable {
        /// Degrees; negative south of the equator, and west of Greenwich.
        public let latitude, longitude: Double

        /// Makes a place from its degrees.
        package init(latitude: Double, longitude: Double) {
            self.latitude = latitude
            self.longitude = longitude
        }
    }

    /// The manifests of a file that say where its picture comes from and how it was changed, signed by its makers (C2PA,
    /// also called Content Credentials). They are found, but their signatures aren't checked.
    public struct Provenance: Sendable, Hashable {
        /// The size of all manifests in the file in bytes; 0 if it only has their address.
        public let byteCount: Int
        /// The number of manifests in the file: the active one, and those of earlier pictures.
        public let manifests: Int
        /// The label of the active manifest, such as `urn:c2pa:…`; `nil` if it has no readable one.
        public let label: String?
        /// The HTTP address of manifests that are stored elsewhere, from XMP (`dcterms:provenance`); `nil` if the file
        /// has none. Nothing is loaded from it.
        public let url: String?

        /// Describes manifests.
        package init(byteCount: Int, manifests: Int, label: String?, url: String? = nil) {
            self.byteCount = byteCount
            self.manifests = manifests
            self.label = label
            self.url = url
        }
    }

    /// A model of colours.
    public enum ColorModel: String, Sendable, Hashable, CaseIterable {
        /// Brightness only.
        case gray = "grey"
        /// Red, green and blue, whatever they are stored as.
        case rgb
        /// Ink: cyan, magenta, yellow and black.
        case cmyk
    }

    /// A colour profile that a file carries (ICC.1:2010).
    public struct ColorProfile: Sendable, Hashable {
        /// Its description, such as `Display P3`; `nil` if it has no readable one.
        public let name: String?
        /// Whether its colours are those of sRGB, so that they need no conversion.
        public let isSRGB: Bool
        /// Its size in bytes.
        public let byteCount: Int

        /// Describes a profile.
        package init(name: String?, isSRGB: Bool, byteCount: Int) {
            self.name = name
            self.isSRGB = isSRGB
            self.byteCount = byteCount
        }
    }

    /// Reads a file's header and its metadata. No loader is involved, so they are read in this process unless `codecs`
    /// are isolated.
    /// - Parameters:
    ///   - bytes: The whole file.
    ///   - codecs: The formats that are read; by default ``ImageCodecs/standard``.
    ///   - limits: Limits the file's bytes, by default 64 million, and the time of reading, by default 30 seconds. The
    ///     number of pixels isn't limited, since none is decoded.
    ///   - priority: The priority among other work with pixels.
    ///   - clock: The clock of the time limit; by default the system's.
    ///   - threads: Where the work runs; by default threads shared by all stages, one for each core.
    /// - Throws: `LoadError.Code.undecodable` if the bytes aren't an image or the header is damaged;
    ///   `LoadError.Code.unsupportedType` if `codecs` lacks the format; `LoadError.Code.tooManyBytes`;
    ///   `LoadError.Code.tooMuchTime`; `CancellationError`.
    public init(
        of bytes: [UInt8], codecs: ImageCodecs = .standard, limits: ImageLimits = ImageLimits(),
        priority: LoadPriority = .normal, clock: any LoadClock = SystemClock(), threads: BlockingThreads = .decoding
    ) async throws {
        let time = WorkTime(limit: limits.time, clock: clock)
        try await self.init(of: bytes, codecs: codecs, limits: limits, priority: priority, time: time, threads: threads)
    }

    /// Reads them as part of other work, with which they share its time.
    package init(
        of bytes: [UInt8], codecs: ImageCodecs, limits: ImageLimits, priority: LoadPriority = .normal, time: WorkTime,
        threads: BlockingThreads = .decoding
    ) async throws {
        try limits.check(encodedBytes: bytes.count)
        let decoder = try codecs.readableCodec(of: bytes).decoder
        self = try await time.run(on: threads, priority: priority, isLeft: !decoder.canBeStopped) {
            try Self.reading(bytes, by: decoder, $0)
        }
    }

    /// Reads a file's header and its metadata on the calling thread.
    package static func reading(
        _ bytes: [UInt8], by decoder: any ImageDecoding, _ cancellation: WorkCancellation
    ) throws -> ImageMetadata {
        if let remote = decoder.remote {
            return try remote.description(of: bytes, cancellation: cancellation)
        }
        let header = try decoder.header(of: bytes, cancellation: cancellation)
        guard header.storedSize.width > 0, header.storedSize.height > 0 else {
            throw LoadError(.undecodable, subject: "", "The \(header.format) file's picture has no pixels.")
        }
        let embedded = try decoder.metadata(of: bytes, cancellation: cancellation)
        return ImageMetadata(
            bytes, header, embedded, try Provenance(of: bytes, header.format, xmp: embedded.xmp, cancellation),
            try GainMapDescription(of: bytes, header.format, cancellation),
            try MasteringMetadata(of: bytes, header.format, cancellation))
    }

    private init(
        _ bytes: [UInt8], _ header: ImageHeader, _ embedded: EmbeddedMetadata, _ provenance: Provenance?,
        _ gainMap: GainMapDescription?, _ mastering: MasteringMetadata?
    ) {
        // A TIFF file is itself such a block, with more directories than its extracted texts.
        let exif = EXIFBlock(bytes) ?? EXIFBlock(embedded.exif)
        let profile = embedded.profile.isEmpty ? nil : ICCProfile(embedded.profile)
        format = header.format
        size = header.size
        storedSize = header.storedSize
        orientation = header.orientation
        frames = header.frames
        loopCount = header.loopCount
        hasAlpha = header.hasAlpha
        bitsPerChannel = header.bitsPerChannel
        colors = header.colors ?? (profile?.space == "GRAY" ? .gray : profile?.space == "CMYK" ? .cmyk : .rgb)
        self.profile = profile.map {
            ColorProfile(name: $0.name, isSRGB: $0.isSRGB, byteCount: embedded.profile.count)
        }
        codedColors = header.codedColors
        (colorSpaceName, transferName) = Self.names(header, profile)
        (self.gainMap, self.mastering) = (gainMap, mastering)
        capturedAt = exif?.capturedAt
        camera = exif?.camera
        lens = exif.flatMap { $0.text(EXIFBlock.Tag.lensModel, in: $0.exposureEntries) }
        location = exif?.location
        self.provenance = provenance
        exifByteCount = embedded.exif.count
        xmpByteCount = embedded.xmp.count
        byteCount = bytes.count
    }

    /// Describes a file that another process has read.
    package init(
        header: ImageHeader, colors: ColorModel, profile: ColorProfile?, colorSpaceName: String, transferName: String?,
        gainMap: GainMapDescription?, mastering: MasteringMetadata?, capturedAt: String?, camera: String?,
        lens: String?, location: Location?, provenance: Provenance?, exifByteCount: Int, xmpByteCount: Int,
        byteCount: Int
    ) {
        format = header.format
        size = header.size
        storedSize = header.storedSize
        orientation = header.orientation
        frames = header.frames
        loopCount = header.loopCount
        hasAlpha = header.hasAlpha
        bitsPerChannel = header.bitsPerChannel
        self.colors = colors
        self.profile = profile
        codedColors = header.codedColors
        (self.colorSpaceName, self.transferName) = (colorSpaceName, transferName)
        (self.gainMap, self.mastering) = (gainMap, mastering)
        self.capturedAt = capturedAt
        self.camera = camera
        self.lens = lens
        self.location = location
        self.provenance = provenance
        self.exifByteCount = exifByteCount
        self.xmpByteCount = xmpByteCount
        self.byteCount = byteCount
    }
}
