public import Pipeline

extension DecodedImage {
    /// Decodes a file in memory, as ``Decode`` and ``Downscale`` do. No loader is involved, so it is decoded in this
    /// process unless `codecs` are isolated.
    ///
    /// ```swift
    /// let image = try await DecodedImage(decoding: bytes, maxPixelSize: 640)
    /// ```
    /// - Parameters:
    ///   - bytes: The whole file.
    ///   - maxPixelSize: The box that the image has to fit; `nil`, the default, for the source's size.
    ///   - codecs: The formats that are decoded; by default ``ImageCodecs/standard``.
    ///   - limits: What the image may cost.
    /// - Throws: `LoadError`, see ``Decode``; `CancellationError` if the task is cancelled.
    public init(
        decoding bytes: [UInt8], maxPixelSize: PixelSize? = nil, codecs: ImageCodecs = .standard,
        limits: ImageLimits = ImageLimits()
    ) async throws {
        let list = Chain {
            ReadInline()
            Decode(codecs: codecs, limits: limits)
            Downscale()
        }
        let request = ImageRequest(.bytes(bytes), maxPixelSize: maxPixelSize)
        guard let image = try await ImagePipeline(validating: list).load(request).image else {
            throw CancellationError()
        }
        self = image
    }
}

extension EncodedImage {
    /// Encodes pixels in memory, as ``Encode`` does.
    ///
    /// ```swift
    /// let file = try await EncodedImage(encoding: image, as: .webp).bytes
    /// ```
    /// - Parameters:
    ///   - image: The pixels.
    ///   - format: The file's format.
    ///   - options: How it is written.
    ///   - codecs: The formats' encoders; by default ``ImageCodecs/standard``.
    /// - Throws: `LoadError`, see ``Encode``; `CancellationError` if the task is cancelled.
    public init(
        encoding image: DecodedImage, as format: ImageFormat, options: EncodeOptions = EncodeOptions(),
        codecs: ImageCodecs = .standard
    ) async throws {
        let list = Chain {
            Given(image)
            Encode(format, options: options, codecs: codecs)
        }
        do {
            let response = try await ImagePipeline(validating: list).load(ImageRequest(.bytes([])))
            guard let file = response.encoded else { throw CancellationError() }
            self = file
        } catch var error as LoadError {
            error.subject = "\(image.size) pixels"
            throw error
        }
    }
}
