public import Pipeline

/// An ordered list of the formats that are read and written.
///
/// `PipelineResources` has such a list, which all stages of a loader use. A stage that is made without one takes that of
/// its list of stages: the codecs that another stage there was made with, or else its loader's, or else
/// ``standard``. A list of stages that mixes codecs which are confined to other processes with others is refused.
///
/// ```swift
/// resources.codecs = ImageCodecs.standard.adding(.qoi)
/// resources.codecs = [.jpeg, .webp]                        // and nothing else
/// ```
///
/// A file of a format that isn't in the list is refused by its first bytes. No library is opened for it.
public struct ImageCodecs: Sendable, ExpressibleByArrayLiteral {
    /// The codecs, one for each format.
    public private(set) var codecs: [ImageCodec] = [] {
        didSet { areIsolated = codecs.allSatisfy { $0.decoder.remote != nil } }
    }

    /// Whether all decoders work in other processes. Kept, since every load is asked for it by metrics.
    package private(set) var areIsolated = true

    /// JPEG, PNG, WebP, AVIF, GIF, TIFF, HEIC and BMP, as far as the package's traits have them. SVG and JPEG XL are left
    /// out: their libraries aren't made for hostile files, so they are only decoded in processes of their own.
    public static let standard: ImageCodecs = {
        var codecs: ImageCodecs = [.jpeg]
        #if PNG
        codecs = codecs.adding(.png)
        #endif
        #if WebP
        codecs = codecs.adding(.webp)
        #endif
        #if AVIF
        codecs = codecs.adding(.avif)
        #endif
        #if GIF
        codecs = codecs.adding(.gif)
        #endif
        #if TIFF
        codecs = codecs.adding(.tiff)
        #endif
        #if HEIC
        codecs = codecs.adding(.heic)
        #endif
        #if BMP
        codecs = codecs.adding(.bmp)
        #endif
        return codecs
    }()

    /// The formats that are only decoded in processes of their own.
    package static let risky: ImageCodecs = {
        var codecs: ImageCodecs = []
        #if SVG
        codecs = codecs.adding(.svg)
        #endif
        #if JPEGXL
        codecs = codecs.adding(.jxl)
        #endif
        return codecs
    }()

    /// All formats that the package has codecs for.
    package static let known = ImageCodecs(standard.codecs + risky.codecs)

    /// Makes a list. Of two codecs for the same format, the later counts.
    public init(_ codecs: [ImageCodec]) {
        for codec in codecs { self = adding(codec) }
    }

    /// Makes a list, see ``init(_:)``.
    public init(arrayLiteral codecs: ImageCodec...) { self.init(codecs) }

    /// Returns the list with one more codec, which replaces any codec of the same format. If several codecs match a
    /// file, the last one counts.
    public func adding(_ codec: ImageCodec) -> ImageCodecs {
        var list = self
        if let index = codecs.firstIndex(where: { $0.format == codec.format }) {
            list.codecs[index] = codec
        } else {
            list.codecs.append(codec)
        }
        return list
    }

    /// The codec of a file, by its first bytes; `nil` if no codec matches.
    public func codec(of bytes: [UInt8]) -> ImageCodec? { codecs.last { $0.matches(bytes) } }

    /// The codec of a format.
    public func codec(for format: ImageFormat) -> ImageCodec? { codecs.first { $0.format == format } }

    /// The codec for a file extension such as `jpeg`, in upper or lower case and without the dot.
    public func codec(forExtension fileExtension: some StringProtocol) -> ImageCodec? {
        let wanted = fileExtension.lowercased()
        return codecs.first { $0.extensions.contains(wanted) }
    }

    /// The format of a file, by its first bytes, even if the list lacks it.
    package func format(of bytes: [UInt8]) -> ImageFormat? {
        (codec(of: bytes) ?? Self.known.codec(of: bytes))?.format
    }

    /// Whether all formats are decoded in processes with all the confinement that is required; `nil` if none has been
    /// started.
    package var areFullyConfined: Bool? {
        guard areIsolated, let remote = codecs.first?.decoder.remote else { return false }
        return remote.isFullyConfined
    }

    /// Starts the processes in which these codecs decode, if any, for a file that is on its way.
    package func begin() { codecs.first { $0.decoder.remote != nil }?.decoder.remote?.begin() }

    /// The codecs of the package, and these in place of those for the same formats.
    var withStandard: ImageCodecs { codecs.reduce(.standard) { $0.adding($1) } }

    /// The encoder of a format.
    /// - Throws: `LoadError.Code.unencodable` if there is none.
    func encoder(for format: ImageFormat) throws(LoadError) -> any ImageEncoding {
        if let encoder = codec(for: format)?.encoder { return encoder }
        throw LoadError(.unencodable, subject: "", "There is no encoder for \(format).")
    }

    /// Returns the codec that reads a file.
    /// - Parameter declaredType: The media type that a server declared.
    /// - Throws: `LoadError.Code.unsupportedType` if the list lacks the file's format, `LoadError.Code.undecodable` if
    ///   the bytes aren't an image.
    func readableCodec(of bytes: [UInt8], declaredType: String? = nil) throws(LoadError) -> ImageCodec {
        if let codec = codec(of: bytes) { return codec }
        guard let format = Self.known.codec(of: bytes)?.format else {
            throw UnknownFormat.refusal(of: bytes, declaredType: declaredType)
        }
        let accepted = codecs.map(\.format.rawValue).sorted().joined(separator: ", ")
        throw LoadError(
            .unsupportedType, subject: "", "The file is \(format), which isn't enabled; accepted are \(accepted).")
    }
}

extension ImageCodecs: CodecSet {
    /// Whether all decoders work in other processes; `nil` without codecs.
    package var isConfined: Bool? { codecs.isEmpty ? nil : areIsolated }

    package func confined(like other: any CodecSet) -> any CodecSet {
        guard let other = other as? ImageCodecs else { return self }
        return ImageCodecs(
            codecs.map { codec in
                codec === Self.known.codec(for: codec.format) ? other.codec(for: codec.format) ?? codec : codec
            })
    }
}

extension Load {
    /// The formats that this load's list reads and writes, for stages of your own: the codecs that stages of the list
    /// were made with, or else those of the loader, or else ``ImageCodecs/standard``.
    public var codecs: ImageCodecs { listCodecs?.set as? ImageCodecs ?? .standard }
}
